/** Where programs of ours that tests start find compiled modules: each would otherwise compile the whole product for itself. */
import { tmpdir } from 'node:os';
import path from 'node:path';

/** For their environment; `npm test` has one that lasts. */
export const compileCache = {
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? path.join(tmpdir(), 'coppice-compiled'),
};
