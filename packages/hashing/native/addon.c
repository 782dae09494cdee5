/* The Node-API addon. It checks the type, length and range of every JavaScript value before use, and throws if a value is
 * invalid. The addon has no mutable statics: any number of threads can load it and exit at any time. */
#define _GNU_SOURCE
#define NAPI_VERSION 8
#include <node_api.h>

#include <sched.h>
#include <stdbool.h>
#include <time.h>

#include "lane.h"
#include "low-priority-thread.h"

/* The functions that check an argument return false after they have thrown. */
static bool throw_type_error(napi_env env, const char *message)
{
    napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", message);
    return false;
}

static bool throw_range_error(napi_env env, const char *message)
{
    napi_throw_range_error(env, "ERR_OUT_OF_RANGE", message);
    return false;
}

/* Reads exactly `count` arguments and the data that is bound to the function. */
static bool get_arguments(napi_env env, napi_callback_info info, size_t count, napi_value *values, void **data)
{
    size_t passed = count;
    if (napi_get_cb_info(env, info, &passed, values, NULL, data) != napi_ok) return false;
    return passed == count || throw_type_error(env, "wrong number of arguments");
}

/* Reads an integer from `low` to `high`. */
static bool get_integer(napi_env env, napi_value value, uint32_t low, uint32_t high, const char *message, uint32_t *out)
{
    double number;
    if (napi_get_value_double(env, value, &number) != napi_ok) return throw_type_error(env, message);
    if (!(number >= low && number <= high)) return throw_range_error(env, message);
    *out = (uint32_t)number;
    return *out == number || throw_range_error(env, message);
}

struct view {
    void *data;
    size_t length; /* elements */
};

static bool get_view(napi_env env, napi_value value, napi_typedarray_type type, const char *message, struct view *view)
{
    bool is_view;
    napi_typedarray_type actual;
    if (napi_is_typedarray(env, value, &is_view) != napi_ok || !is_view) return throw_type_error(env, message);
    if (napi_get_typedarray_info(env, value, &actual, &view->length, &view->data, NULL, NULL) != napi_ok) return false;
    if (view->data == NULL) view->length = 0; /* the buffer is detached */
    return actual == type || throw_type_error(env, message);
}

static bool get_lane_buffer(napi_env env, napi_value value, struct view *view)
{
    if (!get_view(env, value, napi_uint32_array, "state must be a Uint32Array", view)) return false;
    return (view->length > 0 && view->length % LANE_WORDS == 0) ||
           throw_range_error(env, "state must contain one or more whole lanes");
}

/* prepareLane(state, lane, password, salt) */
static napi_value prepare_lane(napi_env env, napi_callback_info info)
{
    napi_value values[4];
    struct view state, password, salt;
    uint32_t lane;
    if (!get_arguments(env, info, 4, values, NULL) || !get_lane_buffer(env, values[0], &state)) return NULL;
    const uint32_t last_lane = (uint32_t)(state.length / LANE_WORDS - 1);
    if (!get_integer(env, values[1], 0, last_lane, "lane must be an index into state", &lane)) return NULL;
    if (!get_view(env, values[2], napi_uint8_array, "password must be a Uint8Array", &password)) return NULL;
    if (!get_view(env, values[3], napi_uint8_array, "salt must be a Uint8Array", &salt)) return NULL;
    lane_prepare((uint32_t *)state.data + (size_t)lane * LANE_WORDS, password.data, password.length, salt.data, salt.length);
    return NULL;
}

struct slice {
    const struct kernel *kernel;
    uint32_t *lanes[MAX_WIDTH];
    size_t count;
    uint32_t iterations;
    bool yields;
    double seconds; /* out: processor time */
};

/* Converts distinct lane indices, at least one and at most the kernel's width, to pointers. */
static bool get_lanes(napi_env env, napi_value value, const struct view *state, struct slice *slice)
{
    struct view lanes;
    if (!get_view(env, value, napi_uint32_array, "lanes must be a Uint32Array", &lanes)) return false;
    if (lanes.length < 1 || lanes.length > slice->kernel->width)
        return throw_range_error(env, "lanes must contain from one index to as many as the kernel has lanes");
    for (size_t i = 0; i < lanes.length; i++) {
        const uint32_t index = ((const uint32_t *)lanes.data)[i];
        if (index >= state->length / LANE_WORDS) return throw_range_error(env, "lanes must be indices into state");
        slice->lanes[i] = (uint32_t *)state->data + (size_t)index * LANE_WORDS;
        for (size_t j = 0; j < i; j++) {
            if (slice->lanes[j] == slice->lanes[i]) return throw_range_error(env, "lanes must be distinct");
        }
    }
    slice->count = lanes.length;
    return true;
}

/* The number of iterations between two yields, summed over the lanes. The yields are 0.1 to 0.6 ms apart. */
enum { YIELD_QUANTUM = 8000 };

/* Returns the processor time of this thread, without the time of other threads on the same core. */
static double processor_seconds(void)
{
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void run_slice(void *argument)
{
    struct slice *slice = argument;
    const uint32_t quantum = slice->yields ? YIELD_QUANTUM / slice->kernel->width : UINT32_MAX;
    const double start = processor_seconds();
    for (uint32_t step; slice->iterations > 0; slice->iterations -= step) {
        step = slice->iterations < quantum ? slice->iterations : quantum;
        kernel_advance(slice->kernel, slice->lanes, slice->count, step);
        if (slice->yields) sched_yield();
    }
    slice->seconds = processor_seconds() - start;
}

static void end_thread(napi_env env, void *thread, void *hint)
{
    (void)env, (void)hint;
    if (thread != NULL) low_priority_thread_end(thread);
}

/* startThread(nice) starts the thread on which `advance` runs from now on. Returns false if the thread cannot start: then
 * `advance` runs on the calling thread. The started thread is the instance data of the addon. It ends with the JavaScript
 * thread or at the next call of startThread. */
static napi_value start_thread(napi_env env, napi_callback_info info)
{
    napi_value value, started;
    uint32_t nice;
    void *former;
    if (!get_arguments(env, info, 1, &value, NULL)) return NULL;
    if (!get_integer(env, value, 1, 19, "nice must be an integer from 1 to 19", &nice)) return NULL;
    if (napi_get_instance_data(env, &former) != napi_ok) return NULL;
    end_thread(env, former, NULL);
    struct low_priority_thread *thread = low_priority_thread_start((int)nice);
    if (napi_set_instance_data(env, thread, end_thread, NULL) != napi_ok) return NULL;
    return napi_get_boolean(env, thread != NULL, &started) == napi_ok ? started : NULL;
}

/* advance(kernel, state, lanes, iterations) returns the processor time in seconds. The function's data is the bit set of
 * supported kernels. */
static napi_value advance(napi_env env, napi_callback_info info)
{
    napi_value values[4], seconds;
    void *supported, *thread;
    uint32_t id;
    struct view state;
    struct slice slice;
    if (!get_arguments(env, info, 4, values, &supported)) return NULL;
    if (!get_integer(env, values[0], 0, (uint32_t)kernel_count - 1, "kernel must be a kernel's id", &id)) return NULL;
    const bool is_supported = (uintptr_t)supported >> id & 1;
    if (!(is_supported || throw_range_error(env, "kernel must be supported by this machine"))) return NULL;
    slice.kernel = &kernels[id];
    if (!get_lane_buffer(env, values[1], &state) || !get_lanes(env, values[2], &state, &slice)) return NULL;
    if (!get_integer(env, values[3], 1, UINT32_MAX, "iterations must be an integer from 1 to 2^32 - 1", &slice.iterations))
        return NULL;
    if (napi_get_instance_data(env, &thread) != napi_ok) return NULL;
    slice.yields = thread != NULL;
    if (thread == NULL) run_slice(&slice);
    else low_priority_thread_run(thread, run_slice, &slice);
    return napi_create_double(env, slice.seconds, &seconds) == napi_ok ? seconds : NULL;
}

static bool set_number(napi_env env, napi_value object, const char *name, uint32_t number)
{
    napi_value value;
    if (napi_create_uint32(env, number, &value) != napi_ok) return false;
    return napi_set_named_property(env, object, name, value) == napi_ok;
}

/* Sets null if `text` is NULL. */
static bool set_text(napi_env env, napi_value object, const char *name, const char *text)
{
    napi_value value;
    napi_status status = napi_get_null(env, &value);
    if (text != NULL) status = napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value);
    return status == napi_ok && napi_set_named_property(env, object, name, value) == napi_ok;
}

/* Sets list[id] to {id, family, width, missing}; `missing` is null for a kernel that this machine supports. */
static bool set_kernel(napi_env env, napi_value list, uint32_t id)
{
    const struct kernel *kernel = &kernels[id];
    napi_value object;
    return napi_create_object(env, &object) == napi_ok && set_number(env, object, "id", id) &&
           set_text(env, object, "family", kernel->family) && set_number(env, object, "width", kernel->width) &&
           set_text(env, object, "missing", kernel_missing(kernel)) &&
           napi_set_element(env, list, id, object) == napi_ok;
}

NAPI_MODULE_INIT()
{
    napi_value list = NULL;
    uintptr_t supported = 0;
    bool done = napi_create_array_with_length(env, kernel_count, &list) == napi_ok;
    for (uint32_t id = 0; id < kernel_count; id++) {
        if (kernel_missing(&kernels[id]) == NULL) supported |= (uintptr_t)1 << id;
        done = done && set_kernel(env, list, id);
    }
    const napi_property_descriptor properties[] = {
        {.utf8name = "kernels", .value = list, .attributes = napi_default_jsproperty},
        {.utf8name = "prepareLane", .method = prepare_lane, .attributes = napi_default_jsproperty},
        {.utf8name = "startThread", .method = start_thread, .attributes = napi_default_jsproperty},
        {.utf8name = "advance", .method = advance, .data = (void *)supported, .attributes = napi_default_jsproperty},
    };
    done = done && napi_define_properties(env, exports, sizeof properties / sizeof *properties, properties) == napi_ok;
    if (!done) napi_throw_error(env, NULL, "the hashing addon could not be initialized");
    return exports;
}
