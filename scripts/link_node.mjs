// npm 10 removes the link to our Node together with the package for the other processor, whose link has the same name. Runs at the end of `npm ci`.
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../node_modules');
const program = path.join(modules, `node-${process.platform}-${process.arch}`, 'bin/node');
const link = path.join(modules, '.bin/node');

export function linkNode() {
  if (!existsSync(program) || existsSync(link)) return;
  mkdirSync(path.dirname(link), { recursive: true });
  symlinkSync(path.relative(path.dirname(link), program), link);
}

if (process.env.npm_lifecycle_event === 'postinstall') linkNode();
