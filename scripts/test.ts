// `npm test`: the checks, then every test against one temporary PostgreSQL.
// Arguments are parts of the paths to run (`npm test -- src/git`), without the checks, which `npm run check` runs. --changed runs what the changes since the last commit
// concern, or the tests that the last commit concerns; --long tries more random cases; other options go to node (`--test-name-pattern=TEXT`).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { startTestServer } from '../test/support/server.ts';
import { concerned } from './test/changed.ts';
import { runFiles } from './test/runner.ts';
import { Summary } from './test/summary.ts';

const top = path.resolve(import.meta.dirname, '..');
const compileCache = path.join(top, 'node_modules/.cache/tests');

const given = process.argv.slice(2);
const own = ['--long', '--changed'];
const isLong = given.includes('--long');
const isChanged = given.includes('--changed');
const execArgv = given.filter((argument) => argument.startsWith('-') && !own.includes(argument));
const parts = given.filter((argument) => !argument.startsWith('-'));
// The files of test/ take longer than the files of src/ and run first, so that the processes end at about the same time.
const all = globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: top }).sort().reverse();
const files = (isChanged ? concerned(top, all) : all).filter(
  (file) => parts.length === 0 || parts.some((part) => file.includes(part)),
);
/** Whether all files run, with the checks. */
const isWhole = parts.length === 0 && !isChanged;

/** Linux keeps this folder in memory: what tests write, and wait for until it is on the disk, is gone a moment later. */
const memory = '/dev/shm';
const enough_bytes = 4 * 1024 ** 3;

function hasRoom(folder: string): boolean {
  const found = statfsSync(folder, { bigint: true });
  return Number(found.bavail * found.bsize) >= enough_bytes;
}

/** @returns whether the program succeeded; its output is printed at its end, since others run beside it */
async function isFine(program: string, ...given: string[]): Promise<boolean> {
  const child = spawn(path.join(top, 'node_modules/.bin', program), given, {
    cwd: top,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  process.stdout.write(out);
  process.stderr.write(err);
  return code === 0;
}

/** @returns whether the program that tests start could be built and, if all files run, the checks succeed */
async function isWorthTesting(): Promise<boolean> {
  const steps = [isFine('node', 'scripts/build.ts')];
  if (isWhole)
    steps.push(
      isFine('tsc', '--noEmit', '--singleThreaded'),
      isFine('biome', 'check'),
      isFine('node', 'scripts/unused.ts'),
      isFine('node', 'scripts/tables.ts'),
    );
  return (await Promise.all(steps)).every(Boolean);
}

/** @returns whether all succeeded */
async function runTests(): Promise<boolean> {
  const starting = startTestServer({ prepares: true });
  const stopped = new AbortController();
  // A terminal sends the signal to this process, and npm sends it again: only the first one counts.
  const stop = async () => {
    if (stopped.signal.aborted) return;
    stopped.abort();
    const server = await starting.catch(() => undefined);
    await server?.stop();
    process.exit(130);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const [server, canTest] = await Promise.all([starting, isWorthTesting()]);
  try {
    if (!canTest) return false;
    const summary = new Summary();
    await runFiles(files, {
      top,
      // One more than there are processors, since a test often waits for PostgreSQL, git or another server.
      processes: Math.min(availableParallelism(), 6) + 1,
      execArgv,
      env: {
        NODE_COMPILE_CACHE: compileCache,
        ...process.env,
        TMPDIR: server.files,
        TEST_DATABASE_TEMPLATE: server.template,
        ...(isLong ? { TEST_LONG: 'true' } : {}),
      },
      report: (outcome) => summary.add(outcome),
      stopped: stopped.signal,
    });
    await summary.end();
    return !summary.hasFailed && !stopped.signal.aborted;
  } finally {
    await server.stop();
  }
}

if (process.env.TMPDIR === undefined && existsSync(memory) && hasRoom(memory)) process.env.TMPDIR = memory;
if (files.length === 0) {
  console.error(isChanged ? 'No test file is concerned.' : `No test file has ${parts.join(' or ')} in its path.`);
  process.exit(1);
}
process.exit((await runTests()) ? 0 : 1);
