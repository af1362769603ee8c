// Runs in a process of its own: it measures processor time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growsTooFast, hostileUnits } from '../../test/support/growth.ts';
import { someOf } from '../../test/support/runs.ts';
import { Unreadable } from './entries.ts';
import { readListing } from './files.ts';
import { declaredIn } from './package_licenses.ts';

/** Where a repeated unit is put: the text of a file, by the text that is hostile. */
type Place = (hostile: string) => string;

const quoted = (text: string) => JSON.stringify(text);
const between: Place = (text) => `a${text}b`;

const after = (...starts: string[]): Place[] => starts.map((start) => (text) => `${start}${text}`);
const inside = (members: string[], write: (text: string) => string): Place[] =>
  members.map((member) => (text) => member.replace('HERE', write(between(text))));

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const json = (...members: string[]): Place[] => [...after('', '{'), ...inside(members, quoted)];
const yaml = (...starts: string[]): Place[] => after('', 'a: ', '- ', 'a: "', 'a: |\n ', ...starts);
const toml = (...members: string[]): Place[] => [
  ...after('', 'a = ', 'a = "', 'a = """', '[', 'a = [', 'a = {'),
  ...inside(members, quoted),
];
const xml = (...members: string[]): Place[] => [
  ...after('', '<a>', '<a ', '<a b="', '<!DOCTYPE a [', '<!--'),
  ...inside(members, escaped),
];
const lines = (...starts: string[]): Place[] =>
  ['', ...starts].flatMap((start): Place[] => [
    (text) => `${start}${text}`,
    (text) => `${start}${text}b`,
    (text) => `${start}${text}\u2028\nb`,
  ]);

/** For every reader, the places in which it looks closely at the text. */
const places: Record<string, Place[]> = {
  'Gemfile.lock': lines('GEM\n', 'GEM\n    a (', 'GEM\n    a', 'DEPENDENCIES\n  a'),
  'Cargo.lock': toml('[[package]]\nname="a"\ndependencies=[HERE]', '[[package]]\nname=HERE'),
  'composer.lock': json(
    '{"packages":[{"name":"a","version":HERE}]}',
    '{"packages":[{"name":"a","version":"1","license":HERE}]}',
  ),
  'conan.lock': json('{"requires":[HERE]}', '{"graph_lock":{"nodes":{"1":{"ref":HERE}}}}'),
  'conda-lock.yml': yaml('package:\n- name: '),
  'environment.yml': yaml(
    'dependencies:\n- a',
    'dependencies:\n- "a',
    'dependencies:\n- pip:\n  - a',
    'dependencies:\n- pip:\n  - "a',
  ),
  'go.mod': lines('module a\n', 'require ', 'require a ', 'require (\n', 'replace '),
  'go.sum': lines('a v1 h1:a\n', 'a '),
  'gradle.lockfile': lines('a:', 'a:b:1=', 'a'),
  'dependencies.lock': json('{HERE:{"a:b":{"locked":"1"}}}', '{"a":{HERE:{"locked":"1"}}}'),
  'gradle.graph.txt': lines('+--- ', '+--- a:b', '+--- a:b:1', '|'),
  'gradle/verification-metadata.xml': xml(
    '<a><components><component group="a" name="b" version="HERE"/></components></a>',
  ),
  'build.gradle': lines(
    'compile ',
    'compile "',
    'compile "a:b:',
    'compile group: ',
    "compile group: 'a', name: 'b', version: ",
  ),
  'build.gradle.kts': lines('compile(', 'compile("a'),
  'maven.graph.json': json('{"children":[{"groupId":HERE}]}', '{"children":[{"groupId":"a","version":HERE}]}'),
  'pom.xml': xml(
    '<project><dependencies><dependency><groupId>a</groupId><version>HERE</version></dependency></dependencies></project>',
    '<project><parent><relativePath>HERE</relativePath></parent></project>',
    `<project><properties><a>HERE</a></properties><dependencies><dependency><groupId>a</groupId><version>\${a}</version></dependency></dependencies></project>`,
  ),
  'package-lock.json': json(
    '{"lockfileVersion":1,"dependencies":{"a":{"version":HERE}}}',
    '{"lockfileVersion":3,"packages":{HERE:{"version":"1"}}}',
    '{"lockfileVersion":3,"packages":{"node_modules/a":{"version":"1","license":HERE}}}',
  ),
  'packages.lock.json': json('{"dependencies":{"a":{"b":{"resolved":HERE}}}}'),
  'packages.config': xml('<packages><package id="a" version="HERE"/></packages>'),
  'own.csproj': xml(
    '<Project><ItemGroup><PackageReference Include="a" Version="HERE"/></ItemGroup></Project>',
    '<Project><PropertyGroup><A>HERE</A></PropertyGroup><ItemGroup><PackageReference Include="a" Version="$(A)"/></ItemGroup></Project>',
  ),
  'requirements.txt': lines('a', 'a==', 'a==1', 'a[', '-r', '-r ', '-r =', '# via ', '# via\na==1 # ', 'a==1 ;', 'a ('),
  'pip-deptree.json': json('[{"package":{"package_name":HERE}}]'),
  'Pipfile.lock': json('{"default":{HERE:{"version":"==1"}}}', '{"default":{"a":{"version":HERE}}}'),
  'poetry.lock': toml('[[package]]\nname=HERE\nversion="1"'),
  'uv.lock': toml('[[package]]\nname=HERE\nversion="1"'),
  'setup.py': lines(
    'install_requires=[',
    'install_requires=["a==1", ',
    'install_requires = ',
    'install_requires=["a[',
    "install_requires=['a",
  ),
  'setup.cfg': lines('[options]\ninstall_requires = a', '[options]\ninstall_requires =\n  a', '[options]\na', '['),
  'pyproject.toml': toml('[project]\ndependencies=[HERE]', '[dependency-groups]\na=[HERE]'),
  'pnpm-lock.yaml': yaml(
    'lockfileVersion: 9\npackages:\n  a',
    'lockfileVersion: 5.4\npackages:\n  /a',
    'lockfileVersion: 9\npackages:\n  "a',
  ),
  'pubspec.lock': yaml('packages:\n  a:\n    version: '),
  'dependencies-compile.dot': lines('digraph a {\n', 'digraph a { "', 'digraph a { "a:b:1" -> '),
  'build.sbt': lines('"a" % ', '"a" %% "b" % "', '"a'),
  'yarn.lock': [
    ...lines('a:\n  version ', 'a:\n  version "1', '# yarn lockfile v1\na', '"a@'),
    ...yaml('__metadata:\n  version: 8\n"a":\n  resolution: "a', '__metadata:\n  version: 8\n'),
  ],
  'x.spdx.json': json(
    '{"spdxVersion":"SPDX-2.3","packages":[{"externalRefs":[{"referenceType":"purl","referenceLocator":HERE}]}]}',
    '{"spdxVersion":"SPDX-2.3","relationships":[{"relationshipType":HERE}]}',
  ),
  'x.cdx.json': json(
    '{"bomFormat":"CycloneDX","specVersion":"1.6","components":[{"purl":HERE}]}',
    '{"bomFormat":"CycloneDX","specVersion":"1.6","components":[{"purl":"pkg:npm/a@1","licenses":[{"license":{"name":HERE}}]}]}',
  ).concat(
    (text) => `{"bomFormat":"CycloneDX","specVersion":"1.6","components":[{"purl":${quoted(`pkg:npm/a${text}\nb`)}}]}`,
  ),
};

function refused(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    // A RangeError is nesting that is too deep for the stack.
    if (!(error instanceof Unreadable || error instanceof RangeError)) throw error;
  }
}

/** The hostile inputs on which a reader is worse than linear. The places of a reader share its units out, unless the run is long. */
function tooFast(path: string, around: readonly Place[], read: (bytes: Buffer) => unknown): string[] {
  return around.flatMap((place, index) =>
    someOf(hostileUnits, index)
      .filter((unit) => growsTooFast((count) => refused(() => read(Buffer.from(place(unit.repeat(count)))))))
      .map((unit) => `${path}: ${place(`<${JSON.stringify(unit)} repeated>`)}`),
  );
}

/** Where files tell licenses. */
const licensePlaces: Record<string, Place[]> = {
  'own.gemspec': lines('s.name = ', 's.licenses = [', 's.licenses'),
  'a.dist-info/METADATA': lines('License:', 'Classifier: License :: ', 'Name: a\n'),
  'a.nuspec': xml('<package><metadata><licenseUrl>HERE</licenseUrl></metadata></package>'),
  'vendor/a.b/c/LICENSE': lines('redistribution and use in source and binary forms '),
  'node_modules/a/package.json': json('{"license":HERE}', '{"name":"a","licenses":[{"type":HERE}]}'),
  'vendor/a/Cargo.toml': toml('[package]\nlicense=HERE'),
  'vendor/composer/installed.json': json('[{"name":"a","license":HERE}]'),
};

test('twice the input takes no more than about twice the time, in every reader', () => {
  const found = Object.entries(places).flatMap(([path, around]) =>
    tooFast(path, around, (bytes) => readListing(bytes, path)),
  );
  assert.deepEqual(found, []);
});

test('the same holds for files that tell licenses', () => {
  const found = Object.entries(licensePlaces).flatMap(([path, around]) =>
    tooFast(path, around, (bytes) => declaredIn(path, bytes)),
  );
  assert.deepEqual(found, []);
});
