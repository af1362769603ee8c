// `npm test`: the checks, then every test against one temporary PostgreSQL.
// Arguments are parts of the paths to run (`npm test -- src/git`); those that begin with a dash go to `node --test`.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import path from 'node:path';
import { startTestServer } from '../test/support/server.ts';

const top = path.resolve(import.meta.dirname, '..');
const templateVariable = 'TEST_DATABASE_TEMPLATE';
const compileCache = path.join(top, 'node_modules/.cache/tests');

const given = process.argv.slice(2);
const options = given.filter((argument) => argument.startsWith('-'));
const parts = given.filter((argument) => !argument.startsWith('-'));
const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: top })
  .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
  .sort();

function check(program: string, ...given: string[]) {
  const { status } = spawnSync(path.join(top, 'node_modules/.bin', program), given, { cwd: top, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

async function runTests(): Promise<number> {
  const server = await startTestServer();
  try {
    const child = spawn(process.execPath, ['--test', '--test-concurrency=2', ...options, ...files], {
      cwd: top,
      stdio: 'inherit',
      // Every test file is a process: without the cache each would compile the whole product anew.
      env: { NODE_COMPILE_CACHE: compileCache, ...process.env, [templateVariable]: server.template },
    });
    // Ctrl-C reaches the tests by itself; here it must only not come before the server is stopped.
    process.on('SIGINT', () => {});
    process.on('SIGTERM', () => child.kill('SIGTERM'));
    const [code] = await once(child, 'exit');
    return code ?? 1;
  } finally {
    await server.stop();
  }
}

if (files.length === 0) {
  console.error(`No test file has ${parts.join(' or ')} in its path.`);
  process.exit(1);
}
check('tsc', '--noEmit');
check('biome', 'check');
process.exit(await runTests());
