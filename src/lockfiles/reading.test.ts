import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFile as readOf, Unreadable } from './index.ts';
import { namedLicenses } from './licenses.ts';

const readFile = (path: string, bytes: Uint8Array) => readOf(path, bytes, { owner: 1, content: path });

const deep = 20_000;

/** Files that do harm if they are read carelessly, with the reason that is given for each. */
const hostile: [string, string | Uint8Array, RegExp][] = [
  ['package-lock.json', '', /^It is not valid JSON/],
  ['package-lock.json', '{"lockfileVersion":3,"packages":{"node_mod', /^It is not valid JSON/],
  ['package-lock.json', '[]', /^It is not an object/],
  ['package-lock.json', '{"lockfileVersion":3,"packages":[]}', /^It has no object `packages`/],
  ['package-lock.json', '{"name":"x"}', /^It has no `lockfileVersion`/],
  ['package-lock.json', '{"lockfileVersion":1}\0', /NUL/],
  ['package-lock.json', Buffer.from([0x7b, 0xff, 0xfe]), /not text in UTF-8/],
  ['package-lock.json', 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n', /pointer of Git LFS/],
  ['package-lock.json', '<<<<<<< HEAD\n{}\n=======\n', /merge conflicts/],
  [
    'package-lock.json',
    `{"lockfileVersion":3,"packages":{"node_modules/a":{"version":"1\\u0000"}}}`,
    /invalid characters/,
  ],
  [
    'package-lock.json',
    `{"lockfileVersion":3,"packages":{"node_modules/${'a'.repeat(300)}":{"version":"1"}}}`,
    /more than 255 characters/,
  ],
  ['pnpm-lock.yaml', `lockfileVersion: 9\npackages: ${'['.repeat(deep)}`, /^It is not valid YAML|nested too deeply/],
  ['pnpm-lock.yaml', 'lockfileVersion: 3\n', /`lockfileVersion` is not/],
  ['pubspec.lock', 'packages: *nothing\n', /^It is not valid YAML/],
  ['Cargo.lock', `x = ${'['.repeat(deep)}`, /^It is not valid TOML|nested too deeply/],
  ['Cargo.lock', 'package = "a"', /`package` is not a list/],
  [
    'pom.xml',
    '<!DOCTYPE p [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><project><dependencies>&b;</dependencies></project>',
    /^It is not valid XML/,
  ],
  ['pom.xml', '<!DOCTYPE p [<!ENTITY a SYSTEM "file:///etc/passwd">]><project>&a;</project>', /^It is not valid XML/],
  ['pom.xml', '<project>'.repeat(deep), /nested too deeply/],
  ['pom.xml', '<project><dependencies>', /^It is not valid XML/],
  ['setup.py', 'setup(install_requires=read_requirements())', /^Its `install_requires` is not a list of literal texts/],
  ['pip-deptree.json', '{}', /^It is not a list/],
  ['uv.lock', '', /^It is empty/],
  ['poetry.lock', '# nothing\n', /^It is empty/],
  ['Cargo.lock', '', /^It is empty/],
  ['uv.lock', 'version = 1\n[package]\nname = "a"', /`package` is not a list/],
  ['conda-lock.yml', '', /^It is not an object/],
  ['conda-lock.yml', 'version: 1\n', /^It has no list `package`/],
  ['conda-lock.yml', 'package: []\n---\npackage: []\n', /^It consists of several documents/],
  ['conan.lock', '{}', /^It is not a lock file of Conan/],
  ['conan.lock', '{"requires":{"a":"1"}}', /`requires` is not a list/],
  ['conan.lock', '{"graph_lock":{"nodes":[]}}', /^It has no object `nodes`/],
  ['composer.lock', '{"packages":null,"packages-dev":[]}', /^It has no list `packages`/],
  ['composer.lock', '{"packages":{}}', /^It has no list `packages`/],
  ['composer.lock', '{"packages":[],"packages-dev":{}}', /`packages-dev` is not a list/],
  ['yarn.lock', 'hello\n', /not a lock file of Yarn/],
  ['Gemfile.lock', 'hello\n', /not a lock file of Bundler/],
  ['gl-sbom-npm.json', '{"bomFormat":"CycloneDX","specVersion":"1.3"}', /`specVersion`/],
  ['x.spdx.json', '{"spdxVersion":"SPDX-2.2"}', /version 2\.3/],
];

test('a hostile file is refused with its reason, and the next one is read', async () => {
  for (const [path, content, reason] of hostile)
    await assert.rejects(
      readFile(path, Buffer.from(content)),
      (error) => error instanceof Unreadable && reason.test(error.message),
      `${path}: ${reason}`,
    );
  const { count } = await readFile('yarn.lock', Buffer.from('# yarn lockfile v1\n\n\na@^1.0.0:\n  version "1.0.0"\n'));
  assert.equal(count, 1);
});

test('names from hostile files stay data', async () => {
  const lock =
    '{"lockfileVersion":1,"dependencies":{"__proto__":{"version":"1.0.0"},"constructor":{"version":"2.0.0"},"a":{"version":7},"b":null}}';
  const { portions, error } = await readFile('package-lock.json', Buffer.from(lock));
  assert.equal(error, '2 entries are not understood. The first is: b');
  const columns = [portions[0]!.name, portions[0]!.version].map((column) => JSON.parse(column));
  assert.deepEqual(columns, [
    ['constructor', '__proto__'],
    ['2.0.0', '1.0.0'],
  ]);
});

test('a lock file nested 20,000 levels deep, and one of aliases of aliases, are read in no time', async () => {
  const nested = `${'{"version":"1","dependencies":{"a":'.repeat(deep)}{"version":"2"}${'}}'.repeat(deep)}`;
  const { count } = await readFile(
    'package-lock.json',
    Buffer.from(`{"lockfileVersion":1,"dependencies":{"a":${nested}}}`),
  );
  assert.equal(count, 2);
  const bomb = Array.from(
    { length: 30 },
    (_, index) => `l${index}: &l${index} [${index === 0 ? 'x' : `*l${index - 1}, *l${index - 1}`}]`,
  ).join('\n');
  assert.equal(
    (await readFile('pnpm-lock.yaml', Buffer.from(`lockfileVersion: '9.0'\n${bomb}\npackages: {a@1.0.0: {}}\n`))).count,
    1,
  );
});

test('many packages come in portions, and too many are refused', async () => {
  const lock = (count: number) =>
    Buffer.from(
      `{"lockfileVersion":3,"packages":{${Array.from({ length: count }, (_, index) => `"node_modules/p${index}":{"version":"1.0.0"}`).join()}}}`,
    );
  const { portions, count } = await readFile('package-lock.json', lock(20_001));
  assert.deepEqual([count, portions.map(({ name }) => JSON.parse(name).length)], [20_001, [10_000, 10_000, 1]]);
  await assert.rejects(readFile('package-lock.json', lock(100_001)), /more than 100000 packages/);
  await assert.rejects(readFile('package-lock.json', Buffer.alloc(33 * 1024 * 1024)), /larger than 32 MiB/);
});

test('licenses have the names and pages of the SPDX list', () => {
  assert.deepEqual(namedLicenses(['MIT', 'GPL-2.0-only WITH Classpath-exception-2.0', 'Own words']), [
    { name: 'MIT License', spdx_identifier: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
    {
      name: 'GNU General Public License v2.0 only with Classpath-exception-2.0',
      spdx_identifier: 'GPL-2.0-only WITH Classpath-exception-2.0',
      url: 'https://spdx.org/licenses/GPL-2.0-only.html',
    },
    { name: 'Own words', spdx_identifier: null, url: null },
  ]);
  assert.deepEqual(
    namedLicenses(['GPL-2.0+', 'LGPL-2.1+ WITH Classpath-exception-2.0', 'AGPL-3.0+', 'MPL-2.0+', 'Words+']).map(
      ({ name, url }) => `${name}: ${url?.split('/').at(-1)}`,
    ),
    [
      'GNU General Public License v2.0 or later: GPL-2.0-or-later.html',
      'GNU Lesser General Public License v2.1 or later with Classpath-exception-2.0: LGPL-2.1-or-later.html',
      'GNU Affero General Public License v3.0 or later: AGPL-3.0-or-later.html',
      'Mozilla Public License 2.0 or later: MPL-2.0.html',
      'Words+: undefined',
    ],
  );
  assert.deepEqual(namedLicenses([]), [{ name: 'unknown', spdx_identifier: 'unknown', url: null }]);
});
