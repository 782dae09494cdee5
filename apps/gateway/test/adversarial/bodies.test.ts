/** Compressed bodies: the service never decompresses one. */
import { expect, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { shareService } from "../support/service.ts";

const CODINGS = {
  gzip: gzipSync,
  "x-gzip": gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
} as const;

const shared = shareService();

test.each(Object.entries(CODINGS))(
  "a body compressed with %s returns json_invalid, regardless of its content",
  async (coding, compress) => {
    const small = Buffer.from('{"title":"x"}');
    const bomb = Buffer.concat([Buffer.from('{"title":"'), Buffer.alloc(8 * 1024 * 1024, "x")]);
    for (const plain of [small, bomb]) {
      const body = new Uint8Array(compress(plain));
      const response = await shared().call("POST", "/todos", {
        body,
        headers: { "content-encoding": coding },
      });
      expect([response.status, response.body]).toMatchObject([
        422,
        { detail: [{ loc: ["body"], type: "json_invalid" }] },
      ]);
    }
    expect((await shared().call("GET", "/todos")).body).toMatchObject({ items: [] });
  },
);
