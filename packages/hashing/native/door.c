/* The Node-API door: JavaScript's values become C's only after their type, length and range were checked, and a bad
 * one throws. No statics that change: any number of threads may load it and die at any time, and what one of them has
 * started ends with it. */
#define _GNU_SOURCE
#define NAPI_VERSION 8
#include <node_api.h>

#include <stdbool.h>
#include <time.h>

#include "lane.h"
#include "thread.h"
#include "wipe.h"

static bool refuse_type(napi_env env, const char *message)
{
    napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", message);
    return false;
}

static bool refuse_range(napi_env env, const char *message)
{
    napi_throw_range_error(env, "ERR_OUT_OF_RANGE", message);
    return false;
}

/* Exactly `count` arguments, and what the function was made with. */
static bool arguments(napi_env env, napi_callback_info info, size_t count, napi_value *values, void **data)
{
    size_t given = count;
    if (napi_get_cb_info(env, info, &given, values, NULL, data) != napi_ok) return false;
    return given == count || refuse_type(env, "wrong number of arguments");
}

/* An integer from `low` to `high`. */
static bool integer(napi_env env, napi_value value, double low, double high, const char *message, double *out)
{
    napi_valuetype type;
    if (napi_typeof(env, value, &type) != napi_ok || type != napi_number) return refuse_type(env, message);
    if (napi_get_value_double(env, value, out) != napi_ok) return refuse_type(env, message);
    return (*out >= low && *out <= high && (double)(int64_t)*out == *out) || refuse_range(env, message);
}

struct view {
    void *data;
    size_t length; /* elements */
    napi_typedarray_type type;
};

static bool view_of(napi_env env, napi_value value, struct view *view)
{
    bool is_view;
    if (napi_is_typedarray(env, value, &is_view) != napi_ok || !is_view) return false;
    if (napi_get_typedarray_info(env, value, &view->type, &view->length, &view->data, NULL, NULL) != napi_ok) return false;
    if (view->data == NULL) view->length = 0; /* a detached buffer */
    return true;
}

static bool bytes(napi_env env, napi_value value, const char *message, struct view *view)
{
    return (view_of(env, value, view) && view->type == napi_uint8_array) || refuse_type(env, message);
}

static bool words(napi_env env, napi_value value, const char *message, struct view *view)
{
    return (view_of(env, value, view) && view->type == napi_uint32_array) || refuse_type(env, message);
}

static bool lane_buffer(napi_env env, napi_value value, struct view *view)
{
    if (!words(env, value, "state must be a Uint32Array", view)) return false;
    return (view->length > 0 && view->length % LANE_WORDS == 0) ||
           refuse_range(env, "state must hold one or more whole lanes");
}

/* prepare(state, lane, password, salt) */
static napi_value prepare(napi_env env, napi_callback_info info)
{
    napi_value values[4];
    struct view state, password, salt;
    double lane;
    if (!arguments(env, info, 4, values, NULL) || !lane_buffer(env, values[0], &state)) return NULL;
    if (!integer(env, values[1], 0, (double)(state.length / LANE_WORDS - 1), "lane must be an index into state", &lane))
        return NULL;
    if (!bytes(env, values[2], "password must be a Uint8Array", &password)) return NULL;
    if (!bytes(env, values[3], "salt must be a Uint8Array", &salt)) return NULL;
    lane_prepare((uint32_t *)state.data + (size_t)lane * LANE_WORDS, password.data, password.length, salt.data, salt.length);
    return NULL;
}

/* Pointers to the lanes, each of them in the buffer and none twice. */
static bool lane_pointers(napi_env env, const struct view *state, const struct view *lanes, uint32_t **pointers)
{
    const uint32_t *indices = lanes->data;
    for (size_t i = 0; i < lanes->length; i++) {
        const uint32_t index = indices[i];
        if (index >= state->length / LANE_WORDS) return refuse_range(env, "lanes must be indices into state");
        pointers[i] = (uint32_t *)state->data + (size_t)index * LANE_WORDS;
        for (size_t j = 0; j < i; j++) {
            if (pointers[j] == pointers[i]) return refuse_range(env, "lanes must be distinct");
        }
    }
    return true;
}

/* Lanes that one kernel advances together. */
struct group {
    const struct kernel *kernel;
    uint32_t *const *lanes;
    size_t count;
    double seconds; /* out: processor time */
};

struct slice {
    struct group groups[MAX_WIDTH];
    size_t count;
    uint32_t iterations;
    bool gives_way;
};

/* Iterations times lanes between two moments at which others may have the processor: 0.2 to 0.6 ms. */
enum { STRETCH = 8000 };

/* clock_getres(2): time in which others had the core does not count. */
static double processor_seconds(void)
{
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void run_group(struct group *group, uint32_t iterations, bool gives_way)
{
    const uint32_t stretch = STRETCH / group->kernel->width;
    const double start = processor_seconds();
    for (uint32_t step; iterations > 0; iterations -= step) {
        step = gives_way && iterations > stretch ? stretch : iterations;
        kernel_advance(group->kernel, group->lanes, group->count, step);
        if (gives_way) thread_give_way();
    }
    group->seconds = processor_seconds() - start;
}

static void run_slice(void *argument)
{
    struct slice *slice = argument;
    for (size_t i = 0; i < slice->count; i++) run_group(&slice->groups[i], slice->iterations, slice->gives_way);
}

/* Cuts the lanes into a group for each kernel of the plan: each takes its width of them, the last one what is left. */
static bool cut_groups(napi_env env, const struct view *plan, uintptr_t runnable, uint32_t *const *lanes, size_t count,
                       struct slice *slice)
{
    const uint32_t *ids = plan->data;
    size_t from = 0;
    for (size_t i = 0; i < plan->length; i++) {
        const uint32_t id = ids[i];
        if (id >= kernel_count) return refuse_range(env, "plan must hold ids of kernels");
        if ((runnable >> id & 1) == 0) return refuse_range(env, "plan must hold kernels that this machine can run");
        if (from >= count) return refuse_range(env, "plan must not hold more kernels than the lanes take");
        const struct kernel *kernel = &kernels[id];
        const size_t taken = count - from < kernel->width ? count - from : kernel->width;
        slice->groups[slice->count++] = (struct group){kernel, lanes + from, taken, 0};
        from += taken;
    }
    return from == count || refuse_range(env, "plan must hold kernels for all lanes");
}

static void end_thread(void *thread)
{
    thread_end(thread);
}

/* startThread(nice) -> a handle, or null where there is no such thread. It ends with the JavaScript thread. */
static napi_value start_thread(napi_env env, napi_callback_info info)
{
    napi_value value, handle;
    double nice;
    if (!arguments(env, info, 1, &value, NULL)) return NULL;
    if (!integer(env, value, 1, 19, "nice must be an integer from 1 to 19", &nice)) return NULL;
    struct thread *thread = thread_start((int)nice);
    if (thread == NULL) return napi_get_null(env, &handle) == napi_ok ? handle : NULL;
    if (napi_add_env_cleanup_hook(env, end_thread, thread) == napi_ok) {
        return napi_create_external(env, thread, NULL, NULL, &handle) == napi_ok ? handle : NULL;
    }
    thread_end(thread);
    napi_throw_error(env, NULL, "the thread could not be tied to this one");
    return NULL;
}

/* A handle of startThread, or null. */
static bool thread_of(napi_env env, napi_value value, struct thread **thread)
{
    napi_valuetype type;
    *thread = NULL;
    if (napi_typeof(env, value, &type) != napi_ok) return false;
    if (type == napi_null) return true;
    return (type == napi_external && napi_get_value_external(env, value, (void **)thread) == napi_ok) ||
           refuse_type(env, "thread must be a handle of startThread, or null");
}

/* advance(plan, state, lanes, iterations, thread, seconds); made with the bit set of kernels that this machine can run. */
static napi_value advance(napi_env env, napi_callback_info info)
{
    napi_value values[6];
    struct view plan, state, lanes, seconds;
    double iterations;
    void *runnable;
    struct thread *thread;
    uint32_t *pointers[MAX_WIDTH];
    struct slice slice = {.count = 0};
    if (!arguments(env, info, 6, values, &runnable)) return NULL;
    if (!words(env, values[0], "plan must be a Uint32Array", &plan) || !lane_buffer(env, values[1], &state)) return NULL;
    if (!words(env, values[2], "lanes must be a Uint32Array", &lanes)) return NULL;
    if (lanes.length < 1 || lanes.length > MAX_WIDTH) {
        refuse_range(env, "lanes must name from one lane to as many as the widest kernel takes");
        return NULL;
    }
    if (!lane_pointers(env, &state, &lanes, pointers)) return NULL;
    if (!cut_groups(env, &plan, (uintptr_t)runnable, pointers, lanes.length, &slice)) return NULL;
    if (!integer(env, values[3], 1, UINT32_MAX, "iterations must be an integer from 1 to 2^32 - 1", &iterations)) return NULL;
    if (!thread_of(env, values[4], &thread)) return NULL;
    if (!view_of(env, values[5], &seconds) || seconds.type != napi_float64_array) {
        refuse_type(env, "seconds must be a Float64Array");
        return NULL;
    }
    if (seconds.length < slice.count) {
        refuse_range(env, "seconds must have a place for each kernel of the plan");
        return NULL;
    }
    slice.iterations = (uint32_t)iterations;
    slice.gives_way = thread != NULL;
    if (thread == NULL) run_slice(&slice);
    else thread_run(thread, run_slice, &slice);
    for (size_t i = 0; i < slice.count; i++) ((double *)seconds.data)[i] = slice.groups[i].seconds;
    return NULL;
}

/* wipe(bytes) */
static napi_value wipe_view(napi_env env, napi_callback_info info)
{
    napi_value value;
    struct view view;
    if (!arguments(env, info, 1, &value, NULL)) return NULL;
    if (!view_of(env, value, &view) || (view.type != napi_uint8_array && view.type != napi_uint32_array)) {
        refuse_type(env, "bytes must be a Uint8Array or a Uint32Array");
        return NULL;
    }
    wipe(view.data, view.length * (view.type == napi_uint32_array ? sizeof(uint32_t) : 1));
    return NULL;
}

/* {id, family, width, missing}; `missing` is null for a kernel that this machine can run. */
static napi_value describe(napi_env env, uint32_t id)
{
    napi_value object, value;
    const char *missing = kernels[id].missing();
    if (napi_create_object(env, &object) != napi_ok) return NULL;
    if (napi_create_uint32(env, id, &value) != napi_ok) return NULL;
    if (napi_set_named_property(env, object, "id", value) != napi_ok) return NULL;
    if (napi_create_string_utf8(env, kernels[id].family, NAPI_AUTO_LENGTH, &value) != napi_ok) return NULL;
    if (napi_set_named_property(env, object, "family", value) != napi_ok) return NULL;
    if (napi_create_uint32(env, kernels[id].width, &value) != napi_ok) return NULL;
    if (napi_set_named_property(env, object, "width", value) != napi_ok) return NULL;
    if (missing == NULL ? napi_get_null(env, &value) != napi_ok
                        : napi_create_string_utf8(env, missing, NAPI_AUTO_LENGTH, &value) != napi_ok)
        return NULL;
    return napi_set_named_property(env, object, "missing", value) == napi_ok ? object : NULL;
}

static bool export_function(napi_env env, napi_value exports, const char *name, napi_callback call, void *data)
{
    napi_value function;
    return napi_create_function(env, name, NAPI_AUTO_LENGTH, call, data, &function) == napi_ok &&
           napi_set_named_property(env, exports, name, function) == napi_ok;
}

NAPI_MODULE_INIT()
{
    napi_value list, kernel;
    uintptr_t runnable = 0;
    bool done = napi_create_array_with_length(env, kernel_count, &list) == napi_ok;
    for (uint32_t id = 0; done && id < kernel_count; id++) {
        if (kernels[id].missing() == NULL) runnable |= (uintptr_t)1 << id;
        done = (kernel = describe(env, id)) != NULL && napi_set_element(env, list, id, kernel) == napi_ok;
    }
    done = done && napi_set_named_property(env, exports, "kernels", list) == napi_ok &&
           export_function(env, exports, "prepare", prepare, NULL) &&
           export_function(env, exports, "startThread", start_thread, NULL) &&
           export_function(env, exports, "advance", advance, (void *)runnable) &&
           export_function(env, exports, "wipe", wipe_view, NULL);
    if (!done) napi_throw_error(env, NULL, "the hashing addon could not be set up");
    return exports;
}
