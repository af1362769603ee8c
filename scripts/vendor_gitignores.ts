// Renews templates/gitignores.json from a clone of github/gitignore (CC0): node scripts/vendor_gitignores.ts <clone>
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

const [clone = ''] = process.argv.slice(2);
const git = (...args: string[]) =>
  execFileSync('git', ['-C', clone, ...args], { encoding: 'utf8', maxBuffer: 1 << 26 });

/** Those for programs and systems are in a folder of their own; what `community/` has is seldom used. */
const files = git('ls-tree', '-r', '--name-only', 'HEAD')
  .split('\n')
  .filter((name) => /^(?:Global\/)?[^/]+\.gitignore$/.test(name));
const templates = files.map((file) => [path.basename(file, '.gitignore'), git('show', `HEAD:${file}`)] as const);
const sorted = templates.toSorted(([one], [other]) => (one.toLowerCase() < other.toLowerCase() ? -1 : 1));
const data = {
  source: 'github/gitignore',
  commit: git('rev-parse', 'HEAD').trim(),
  templates: Object.fromEntries(sorted),
};
writeFileSync(path.join(import.meta.dirname, '../templates/gitignores.json'), `${JSON.stringify(data, null, 1)}\n`);
