/** The links between the documents lead somewhere. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const top = path.resolve(import.meta.dirname, '../..');

const textOf = (file: string) => readFileSync(file, 'utf8').replaceAll(/```.*?```/gs, '');

/** The anchor that a heading gets. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

const anchorsIn = (file: string) => [...textOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading!));

function isBroken(from: string, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? from : path.resolve(path.dirname(from), file);
  return !existsSync(target) || (anchor !== undefined && !anchorsIn(target).includes(anchor));
}

test('every link of a document leads to a file or a heading', () => {
  const files = globSync(['*.md', 'docs/**/*.md'], { cwd: top }).map((file) => path.join(top, file));
  const broken = files.flatMap((file) =>
    [
      ...textOf(file)
        .replaceAll(/`[^`\n]*`/g, '')
        .matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g),
    ]
      .map(([, link]) => link!)
      .filter((link) => isBroken(file, link))
      .map((link) => `${path.relative(top, file)}: ${link}`),
  );
  assert.ok(files.length > 50);
  assert.deepEqual(broken, []);
});
