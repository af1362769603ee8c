import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { concerned } from '../../scripts/test/changed.ts';

test('a change concerns the tests beside it and those that import it, but not those that import everything', (t) => {
  const top = mkdtempSync(path.join(tmpdir(), 'coppice-changed-'));
  t.after(() => rmSync(top, { recursive: true, force: true }));
  const write = (file: string, text = '') => {
    mkdirSync(path.dirname(path.join(top, file)), { recursive: true });
    writeFileSync(path.join(top, file), text);
  };
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], { cwd: top });
  write('src/git/reading.ts');
  write('src/git/other.test.ts');
  write('src/app.ts', "import './git/reading.ts';");
  write('src/pages/page.ts', "import '../git/reading.ts';");
  write('src/pages/page.test.ts', "import './page.ts';");
  write('test/pages.test.ts', "import '../src/app.ts';");
  const tests = ['src/git/other.test.ts', 'src/pages/page.test.ts', 'test/pages.test.ts'];
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'First');
  write('src/git/reading.ts', '// changed');
  assert.deepEqual(concerned(top, tests), ['src/git/other.test.ts', 'src/pages/page.test.ts']);
  git('commit', '--quiet', '--all', '--message', 'Second');
  assert.deepEqual(concerned(top, tests), ['src/git/other.test.ts', 'src/pages/page.test.ts'], 'of the last commit');
  write('test/pages.test.ts', "import '../src/app.ts'; // changed");
  assert.deepEqual(concerned(top, tests), ['test/pages.test.ts']);
});
