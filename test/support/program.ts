/** The program as operators run it, for tests that start it. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';

const top = path.resolve(import.meta.dirname, '../..');

// `npm test` builds it once for all files; for a file that runs alone, this does.
if (process.env.TEST_DATABASE_TEMPLATE === undefined)
  execFileSync(process.execPath, [path.join(top, 'scripts/build.ts')]);

/** What `npm start` and `npm run coppice` run. */
export const program = path.join(top, 'build/main.js');
