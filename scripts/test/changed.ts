// The test files that the changes of a checkout concern, for `npm test -- --changed`.
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Files that import everything: nearly each test would be reached through them. */
const reachesAll = /^(src\/(app|main)\.ts|src\/areas\/\w+\.ts|test\/support\/)/;

/** What has changed since the last commit, or by it if nothing has. Paths are below `top`. */
function changedFiles(top: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: top, encoding: 'utf8' }).split('\n').filter(Boolean);
  const changed = [...git('diff', '--name-only', 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')];
  return changed.length > 0 ? changed : git('diff', '--name-only', 'HEAD~1', 'HEAD');
}

/** Which files import each file. */
function importers(top: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const from of globSync(['src/**/*.ts', 'test/**/*.ts'], { cwd: top }))
    for (const [, to] of readFileSync(path.join(top, from), 'utf8').matchAll(/(?:from|import\(?) ?'(\.[^']+)'/g)) {
      const target = path.join(path.dirname(from), to!);
      found.set(target, [...(found.get(target) ?? []), from]);
    }
  return found;
}

/**
 * The changed test files, the test files beside a changed file, and the test files that import one without importing everything.
 * @param tests all test files, below `top`
 */
export function concerned(top: string, tests: readonly string[]): string[] {
  const changed = changedFiles(top);
  const of = importers(top);
  const reached = new Set(changed);
  for (const file of reached)
    if (changed.includes(file) || !reachesAll.test(file)) for (const from of of.get(file) ?? []) reached.add(from);
  const folders = new Set(changed.filter((file) => file.startsWith('src/')).map((file) => path.dirname(file)));
  return tests.filter((test) => reached.has(test) || folders.has(path.dirname(test)));
}
