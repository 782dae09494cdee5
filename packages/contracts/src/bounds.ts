/** The bounds of the wire format that are used in more than one place. Lengths are counted in Unicode code points. */

export const USERNAME_MAX_LENGTH = 32;
export const PASSWORD_MIN_LENGTH = 8;
export const PASSWORD_MAX_LENGTH = 128;
/** RFC 5321 §4.5.3.1.3 bounds a path at 256 octets, its two angle brackets included. */
export const EMAIL_MAX_LENGTH = 254;

export const PAGE_SIZE_MAX = 100;
export const PAGE_SIZE_DEFAULT = 20;

/** A valid request needs less than 8 KiB. */
export const BODY_MAX_BYTES = 128 * 1024;
/** Of a chunked body: each chunk takes time, however short it is. */
export const BODY_MAX_CHUNKS = 512;
/** Arrays and objects within each other, the outermost included. */
export const JSON_MAX_DEPTH = 64;
/** Of one object. */
export const JSON_MAX_MEMBERS = 256;
/** A network is familiar for this long after a registration or a successful login of the user. */
export const FAMILIAR_NETWORK_DAYS = 30;
/** Ids are 64-bit in the database and plain numbers on the wire, so they stay within the safe integers. */
export const ID_MAX = Number.MAX_SAFE_INTEGER;
