/* The Node-API door: JavaScript's values become C's only after their type, length and range were checked, and a bad
 * one throws. No statics that change and no instance data: any number of threads may load it and die at any time. */
#define _GNU_SOURCE
#define NAPI_VERSION 8
#include <node_api.h>

#include <stdbool.h>
#include <pthread.h>
#include <time.h>
#ifdef __linux__
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "lane.h"
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
        if (indices[i] >= state->length / LANE_WORDS) return refuse_range(env, "lanes must be indices into state");
        pointers[i] = (uint32_t *)state->data + (size_t)indices[i] * LANE_WORDS;
        for (size_t j = 0; j < i; j++) {
            if (pointers[j] == pointers[i]) return refuse_range(env, "lanes must be distinct");
        }
    }
    return true;
}

struct slice {
    const struct kernel *kernel;
    uint32_t *const *lanes;
    size_t count;
    uint32_t iterations;
    int nice;
    double seconds; /* out: of this thread's processor time */
};

/* clock_getres(2): time in which others had the core does not count. */
static double processor_seconds(void)
{
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

#ifdef __linux__
/* sched_setattr(2), which the C library does not wrap everywhere. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

/* Lowers this thread alone; refused, it stays as it is. Since Linux 6.12 the runtime is the slice that a thread asks for,
 * 100 ms at most: whoever asks for less takes the core from it the moment it wakes, and not at the next tick. */
static void stand_back(int nice)
{
    struct scheduling scheduling = {.size = sizeof scheduling, .policy = SCHED_OTHER, .nice = nice, .runtime = 100000000};
    prctl(PR_SET_NAME, "derive");
    syscall(SYS_sched_setattr, 0, &scheduling, 0);
}
#endif

static void *run_slice(void *argument)
{
    struct slice *slice = argument;
#ifdef __linux__
    if (slice->nice > 0) stand_back(slice->nice);
#endif
    double start = processor_seconds();
    kernel_advance(slice->kernel, slice->lanes, slice->count, slice->iterations);
    slice->seconds = processor_seconds() - start;
    return NULL;
}

/* A lowered slice has a thread of its own, gone when this returns: whatever thread the engine makes inherits the
 * priority of the one that makes it, so JavaScript's must stay as it is. Without a thread the calling one does it. */
static void advance_slice(struct slice *slice)
{
    pthread_t thread;
    if (slice->nice > 0 && pthread_create(&thread, NULL, run_slice, slice) == 0) {
        pthread_join(thread, NULL);
        return;
    }
    slice->nice = 0;
    run_slice(slice);
}

/* advance(kernel, state, lanes, iterations, nice) -> processor seconds; made with the bit set of kernels that this machine can run. */
static napi_value advance(napi_env env, napi_callback_info info)
{
    napi_value values[5];
    struct view state, lanes;
    double id, iterations, nice;
    void *runnable;
    uint32_t *pointers[MAX_WIDTH];
    napi_value seconds;
    if (!arguments(env, info, 5, values, &runnable)) return NULL;
    if (!integer(env, values[0], 0, (double)(kernel_count - 1), "kernel must be the id of a kernel", &id)) return NULL;
    const struct kernel *kernel = &kernels[(size_t)id];
    if (((uintptr_t)runnable >> (size_t)id & 1) == 0) {
        refuse_range(env, "kernel must be one that this machine can run");
        return NULL;
    }
    if (!lane_buffer(env, values[1], &state)) return NULL;
    if (!words(env, values[2], "lanes must be a Uint32Array", &lanes)) return NULL;
    if (lanes.length < 1 || lanes.length > kernel->width) {
        refuse_range(env, "lanes must name from one to the kernel's width of lanes");
        return NULL;
    }
    if (!lane_pointers(env, &state, &lanes, pointers)) return NULL;
    if (!integer(env, values[3], 1, UINT32_MAX, "iterations must be an integer from 1 to 2^32 - 1", &iterations)) return NULL;
    if (!integer(env, values[4], 0, 19, "nice must be an integer from 0 to 19", &nice)) return NULL;
    struct slice slice = {kernel, pointers, lanes.length, (uint32_t)iterations, (int)nice, 0};
    advance_slice(&slice);
    return napi_create_double(env, slice.seconds, &seconds) == napi_ok ? seconds : NULL;
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
           export_function(env, exports, "advance", advance, (void *)runnable) &&
           export_function(env, exports, "wipe", wipe_view, NULL);
    if (!done) napi_throw_error(env, NULL, "the hashing addon could not be set up");
    return exports;
}
