/** Bounds of the wire format, each used in more than one place. Lengths are counted in Unicode code points. */

export const USERNAME_MAX_LENGTH = 32;
export const PASSWORD_MIN_LENGTH = 8;
export const PASSWORD_MAX_LENGTH = 128;
/** RFC 5321 §4.5.3.1.3 limits a path, which is an address in angle brackets, to 256 octets. */
export const EMAIL_MAX_LENGTH = 254;

export const PAGE_SIZE_MAX = 100;
export const PAGE_SIZE_DEFAULT = 20;

/** The body of a usual request is smaller than 8 KiB. */
export const BODY_MAX_BYTES = 128 * 1024;
/** The maximum number of chunks of a body: even a short chunk takes time. */
export const BODY_MAX_CHUNKS = 512;
/** Levels of nested arrays and objects, including the outermost level. */
export const JSON_MAX_DEPTH = 64;
/** Per object. */
export const JSON_MAX_MEMBERS = 256;
/** A network stays familiar to a user for this long after the user registers or logs in from this network. */
export const FAMILIAR_NETWORK_DAYS = 30;
/** Ids are 64-bit integers in the database but JSON numbers on the wire, so every id must be a safe integer. */
export const ID_MAX = Number.MAX_SAFE_INTEGER;
