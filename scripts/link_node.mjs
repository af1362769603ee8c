// Runs at the end of `npm ci`. npm 10 removes the link to our Node together with the package for the other processor, whose link has the same name.
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../node_modules');
const program = path.join(modules, `node-${process.platform}-${process.arch}`, 'bin/node');
const link = path.join(modules, '.bin/node');

if (existsSync(program) && !existsSync(link)) {
  mkdirSync(path.dirname(link), { recursive: true });
  symlinkSync(path.relative(path.dirname(link), program), link);
}
