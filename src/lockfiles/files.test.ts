/** What is listed of a file equals what its package manager says of it. The files in test/lockfiles were written by the managers themselves. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { isListing, listingsAmong, readListing } from './files.ts';

const folder = path.join(import.meta.dirname, '../../test/lockfiles');
const stored = (file: string) => readListing(readFileSync(path.join(folder, file)), file);
const written = (file: string, text: string) => readListing(Buffer.from(text), file);

/** `name@version`, with `!` for what the project names itself, `?` where the file does not say, and `d` for what is only for development. */
const shown = ({ entries }: ReturnType<typeof readListing>) =>
  entries
    .map(
      ({ name, version, direct, development }) =>
        `${name}@${version}${direct === null ? '?' : direct ? '!' : ''}${development ? 'd' : ''}`,
    )
    .toSorted();

/**
 * `npm ls --all` of a project with minimist 1.2.5, mkdirp 0.5.1, kind (`npm:kind-of@6.0.2`), is-odd 3.0.1 for development and fsevents 2.3.2 as optional.
 * Made by `npm install --package-lock-only --lockfile-version N` (npm 11), yarn 1.22.22, @yarnpkg/cli-dist 4, pnpm 7, 8 and 9, and `npm sbom`.
 */
const orchard = [
  'fsevents@2.3.2!',
  'is-number@6.0.0d',
  'is-odd@3.0.1!d',
  'kind-of@6.0.2!',
  'minimist@0.0.8',
  'minimist@1.2.5!',
  'mkdirp@0.5.1!',
];
const withoutFlags = (all: string[], flags: RegExp) => all.map((each) => each.replace(flags, ''));

test('lock files of npm and pnpm list what npm lists', () => {
  assert.deepEqual(shown(stored('npm2/package-lock.json')), orchard);
  assert.deepEqual(shown(stored('npm3/package-lock.json')), orchard);
  for (const version of [5, 6, 9])
    assert.deepEqual(shown(stored(`pnpm${version}/pnpm-lock.yaml`)), orchard, `pnpm ${version}`);
  // Version 1 does not say what the project itself names.
  assert.deepEqual(withoutFlags(shown(stored('npm1/package-lock.json')), /\?/), withoutFlags(orchard, /!/));
  const { licenses, manager, ecosystem } = stored('npm3/package-lock.json').entries.find(
    ({ name }) => name === 'minimist',
  )!;
  assert.deepEqual({ licenses, manager, ecosystem }, { licenses: ['MIT'], manager: 'npm', ecosystem: 'npm' });
});

test('a lock file of Yarn lists the same, and does not say what is for development', () => {
  assert.deepEqual(withoutFlags(shown(stored('yarn1/yarn.lock')), /\?/), withoutFlags(orchard, /!?d?$/));
  const berry = shown(stored('berry/yarn.lock'));
  for (const each of withoutFlags(orchard, /d$/)) assert.ok(berry.includes(each), `${each} of ${berry}`);
});

test('bills of materials list the same', () => {
  for (const file of ['sbom/npm.cdx.json', 'sbom/npm.spdx.json']) {
    const { entries } = stored(file);
    assert.deepEqual(
      entries.map(({ name, version }) => `${name}@${version}`).toSorted(),
      withoutFlags(orchard, /!?d?$/).filter((each) => entries.some(({ name }) => each.startsWith(`${name}@`))),
    );
    assert.ok(entries.length >= 5);
    assert.deepEqual(entries.find(({ name }) => name === 'mkdirp')?.licenses, ['MIT']);
    assert.equal(entries.find(({ name }) => name === 'mkdirp')?.direct, true);
  }
});

test('files of Python', () => {
  // pip-compile of pip-tools, `pipenv lock`, `uv lock`.
  assert.deepEqual(shown(stored('pip/requirements.txt')).slice(0, 5), [
    'certifi@2026.10.18',
    'chardet@3.0.4',
    'click@8.5.1',
    'flask@1.0!',
    'idna@2.7',
  ]);
  const requests = [
    'certifi@2026.10.18',
    'chardet@3.0.4',
    'idna@2.7',
    'requests@2.19.1!',
    'six@1.17.0!d',
    'urllib3@1.23',
  ];
  assert.deepEqual(shown(stored('uv/uv.lock')), requests);
  assert.deepEqual(withoutFlags(shown(stored('pipenv/Pipfile.lock')), /\?$/), requests);
  // `poetry show --all`; six is in the group for development.
  const flask = [
    'blinker@1.9.0?',
    'certifi@2026.10.18?',
    'charset-normalizer@3.5.2?',
    'click@8.5.1?',
    'flask@3.0.3?',
    'idna@3.20?',
  ];
  const werkzeug = [
    'itsdangerous@2.2.0?',
    'jinja2@3.1.6?',
    'markupsafe@3.0.4?',
    'requests@2.31.0?',
    'six@1.17.0?d',
    'urllib3@2.8.0?',
  ];
  assert.deepEqual(shown(stored('poetry/poetry.lock')), [...flask, ...werkzeug, 'werkzeug@3.1.9?']);
  const file = written(
    'api/requirements.txt',
    '-r ../base.txt\n-r base/more.txt\nDjango[argon2] == 2.2 ; python_version > "3" \\\n  --hash=sha256:abc\nlocal>=2\nzope.interface===5.0 # why\n',
  );
  assert.deepEqual(
    [shown(file), file.includes],
    [
      ['django@2.2?', 'zope-interface@5.0?'],
      ['base.txt', 'api/base/more.txt'],
    ],
  );
  assert.deepEqual(shown(written('setup.py', 'setup(\n  install_requires=["a[x]==1.0", \'b>=2\'],\n)')), ['a@1.0!']);
  assert.deepEqual(
    shown(written('setup.cfg', '[options]\ninstall_requires =\n  a==1.0\n  b\npackages = find:\n[other]\nx = c==1\n')),
    ['a@1.0!'],
  );
  const pyproject = '[project]\nname = "x"\ndependencies = ["a==1.0", "b"]\n[dependency-groups]\ntest = ["c==2.0"]\n';
  assert.deepEqual(shown(written('pyproject.toml', pyproject)), ['a@1.0!', 'c@2.0!d']);
  const poetry = `[tool.poetry.dependencies]
python = "3.12.1"
a = "1.0"
b = "^2.0"
c = { version = "3.0", extras = ["x"] }
d = [{ version = "4.0", python = "<3.9" }, { version = "4.1", python = ">=3.9" }]
e = { git = "https://example.com/e.git" }
[tool.poetry.group.test.dependencies]
f = "==5.0"
`;
  const listed = written('pyproject.toml', poetry);
  assert.deepEqual(shown(listed), ['a@1.0!', 'c@3.0!', 'd@4.0!', 'd@4.1!', 'f@5.0!d']);
  assert.deepEqual(new Set(listed.entries.map(({ manager }) => manager)), new Set(['poetry']));
  assert.deepEqual(
    shown(
      written(
        'pip-deptree.json',
        '[{"package":{"key":"flask","package_name":"Flask","installed_version":"1.0"},"dependencies":[{"key":"jinja2"}]},{"package":{"key":"jinja2","package_name":"Jinja2","installed_version":"2.9"},"dependencies":[]}]',
      ),
    ),
    ['flask@1.0!', 'jinja2@2.9'],
  );
});

test('files of Cargo, Go, Bundler, Composer, pub, conda and Conan', () => {
  // `cargo tree -e normal,dev`, and `go list -m all`, which lists modules that are only needed to resolve versions besides.
  assert.deepEqual(shown(stored('cargo/Cargo.lock')), ['itoa@1.0.19!', 'maybe-uninit@2.0.0', 'smallvec@0.6.13!']);
  const go = shown(stored('go/go.mod'));
  assert.deepEqual(go.length, 7);
  assert.ok(go.includes('github.com/gin-gonic/gin@v1.6.2!') && go.includes('gopkg.in/yaml.v2@v2.2.8'));
  assert.ok(shown(stored('go/go.sum')).includes('github.com/gin-gonic/gin@v1.6.2?'));
  const replaced =
    'module m\nrequire (\n\ta.b/c v1.0.0\n\ta.b/d v1.0.0 // indirect\n\ta.b/e v2.0.0\n)\nreplace a.b/c => f.g/h v3.0.0\nreplace a.b/d => ../d\nexclude a.b/e v2.0.0\n';
  assert.deepEqual(shown(written('go.mod', replaced)), ['f.g/h@v3.0.0!']);
  // `bundle list` of Bundler 2.3, from gems of the system.
  assert.deepEqual(shown(stored('bundler/Gemfile.lock')), [
    'minitest@5.17.0!',
    'mustermann@3.0.0',
    'rack-protection@3.0.5',
    'rack@2.2.22',
    'ruby2_keywords@0.0.5',
    'sinatra@3.0.5!',
    'tilt@2.0.11',
  ]);
  const gems =
    'GEM\n  remote: https://rubygems.org/\n  specs:\n    nokogiri (1.10.0-x86_64-linux)\n      mini_portile2 (~> 2.4)\n\nPATH\n  remote: .\n  specs:\n    own (0.1)\n\nDEPENDENCIES\n  own!\n';
  assert.deepEqual(shown(written('Gemfile.lock', gems)), ['nokogiri@1.10.0']);
  // `composer show --locked` and `composer licenses --locked` of Composer 2.5, with packages of its own.
  const composer = stored('composer/composer.lock');
  assert.deepEqual(shown(composer), [
    'orchard/diff@3.0.4?d',
    'orchard/http-foundation@4.4.1?',
    'orchard/http-kernel@4.4.1?',
    'orchard/unit@8.5.33?d',
    'psr/log@1.1.4?',
  ]);
  assert.deepEqual(composer.entries.find(({ name }) => name === 'orchard/diff')?.licenses, ['BSD-3-Clause', 'MIT']);
  const pub =
    'packages:\n  http:\n    dependency: "direct main"\n    source: hosted\n    version: "0.13.0"\n  flutter:\n    dependency: "direct main"\n    source: sdk\n    version: "0.0.0"\n  path:\n    dependency: transitive\n    source: hosted\n    version: "1.10"\n';
  assert.deepEqual(shown(written('pubspec.lock', pub)), ['http@0.13.0!', 'path@1.10']);
  const conda =
    'package:\n- name: numpy\n  version: 1.10\n  manager: conda\n- name: Ruamel.yaml\n  version: 0.17\n  manager: pip\n  category: dev\n';
  assert.deepEqual(shown(written('conda-lock.yml', conda)), ['numpy@1.10?', 'ruamel-yaml@0.17?d']);
  const environment =
    'dependencies:\n- python=3.11.4\n- conda-forge::numpy=1.10=py_0\n- scipy>=1\n- pip:\n  - requests==2.19.1\n';
  assert.deepEqual(shown(written('environment.yml', environment)), [
    'numpy@1.10!',
    'python@3.11.4!',
    'requests@2.19.1!',
  ]);
  // `conan graph info` of Conan 2, with recipes of its own.
  assert.deepEqual(shown(stored('conan/conan.lock')), [
    'cmake@3.27.7?d',
    'libcurl@8.2.1?',
    'openssl@3.1.2?',
    'zlib@1.2.13?',
  ]);
  // `conan info` of Conan 1, with the same recipes.
  assert.deepEqual(shown(stored('conan1/conan.lock')), ['libcurl@8.2.1!', 'openssl@3.1.2', 'zlib@1.2.13']);
});

test('files of Gradle, Maven, sbt and NuGet', () => {
  // `mvn dependency:tree`; the pom.xml of the same project lists what it names itself.
  const maven = [
    'junit/junit@4.13!d',
    'org.apache.commons/commons-lang3@3.11',
    'org.apache.commons/commons-text@1.9!',
    'org.hamcrest/hamcrest-core@1.3d',
  ];
  assert.deepEqual(shown(stored('maven/maven.graph.json')), maven);
  assert.deepEqual(shown(stored('maven/pom.xml')), [maven[0], maven[2]]);
  const lock =
    '# comment\norg.slf4j:slf4j-api:1.7.30=compileClasspath,runtimeClasspath\njunit:junit:4.13=testCompileClasspath\nempty=annotationProcessor\n';
  assert.deepEqual(shown(written('gradle.lockfile', lock)), ['junit/junit@4.13?d', 'org.slf4j/slf4j-api@1.7.30?']);
  const build = `dependencies {\n  // implementation 'x:x:1'\n  implementation 'a.b:c:1.0'\n  api("d:e:$version")\n  testImplementation group: 'f', name: 'g', version: '2.0'\n  implementation "h:i:1.+"\n}`;
  assert.deepEqual(shown(written('build.gradle', build)), ['a.b/c@1.0!', 'f/g@2.0!d']);
  // `gradle dependencies` of Gradle 4.4.
  assert.deepEqual(shown(stored('gradle/gradle.graph.txt')), [
    'com.google.code.gson/gson@2.8.6!',
    'commons-codec/commons-codec@1.11',
    'commons-logging/commons-logging@1.2',
    'junit/junit@4.13!d',
    'org.apache.httpcomponents/httpclient@4.5.13!',
    'org.apache.httpcomponents/httpcore@4.4.13',
    'org.hamcrest/hamcrest-core@1.3d',
    'org.slf4j/slf4j-api@1.7.30',
    'org.slf4j/slf4j-simple@1.7.30!',
  ]);
  const tree =
    'runtimeClasspath - Runtime classpath.\n+--- a:b:1.0 -> 1.1\n|    \\--- c:d:2.0 (*)\n\\--- project :own\n\ntestRuntimeClasspath - x\n\\--- e:f -> 3.0\n';
  assert.deepEqual(shown(written('gradle.graph.txt', tree)), ['a/b@1.1!', 'c/d@2.0', 'e/f@3.0!d']);
  const nebula = '{"compileClasspath":{"a:b":{"locked":"1.0"},"c:d":{"locked":"2.0","transitive":["a:b"]}}}';
  assert.deepEqual(shown(written('dependencies.lock', nebula)), ['a/b@1.0!', 'c/d@2.0']);
  const verification =
    '<verification-metadata><components><component group="a" name="b" version="1"><artifact name="x"/></component></components></verification-metadata>';
  assert.deepEqual(shown(written('gradle/verification-metadata.xml', verification)), ['a/b@1?']);
  // `dependencyList` of sbt 1.10; build.sbt of the same project lists what it names itself, without the suffix that `%%` adds.
  assert.deepEqual(shown(stored('sbt/dependencies-compile.dot')), [
    'com.typesafe/config@1.4.3!',
    'org.typelevel/cats-core_2.13@2.10.0!',
    'org.typelevel/cats-kernel_2.13@2.10.0',
  ]);
  assert.deepEqual(shown(stored('sbt/build.sbt')), [
    'com.typesafe/config@1.4.3!',
    'org.scalatest/scalatest@3.2.18!d',
    'org.typelevel/cats-core@2.10.0!',
  ]);
  const project =
    '<Project><ItemGroup><PackageReference Include="A" Version="1.0"/><PackageReference Include="B"><Version>[2.0]</Version><PrivateAssets>all</PrivateAssets></PackageReference><PackageReference Include="C" Version="1.*"/></ItemGroup></Project>';
  assert.deepEqual(shown(written('src/own.csproj', project)), ['A@1.0!', 'B@2.0!d']);
  assert.deepEqual(
    shown(
      written('packages.config', '<packages><package id="A" version="1.0" developmentDependency="true"/></packages>'),
    ),
    ['A@1.0?d'],
  );
});

test('a lock file of NuGet lists what dotnet lists', () => {
  // `dotnet list package --include-transitive` of SDK 3.1, without the project that is referred to.
  assert.deepEqual(shown(stored('nuget/packages.lock.json')), [
    'Orchard.Fences@0.9.0',
    'Orchard.Grafting@2.0.0-beta.3!',
    'Orchard.Harvest@3.1.4!',
    'Orchard.Text@1.4.1',
  ]);
});

test('a pom.xml is completed by its parents, which are asked for one by one', () => {
  const parent = (artifact: string, path = '') =>
    `<parent><groupId>g</groupId><artifactId>${artifact}</artifactId><version>1</version>${path && `<relativePath>${path}</relativePath>`}</parent>`;
  const dependency = (name: string, version = '') =>
    `<dependency><groupId>d</groupId><artifactId>${name}</artifactId>${version && `<version>${version}</version>`}</dependency>`;
  const property = (name: string) => `\${${name}}`;
  const project = (inner: string) => Buffer.from(`<project>${inner}</project>`);
  const own = project(
    `${parent('middle')}<artifactId>own</artifactId><properties><b>2</b></properties><dependencies>${dependency('a')}${dependency('b', property('b'))}${dependency('c', property('c'))}${dependency('unknown')}</dependencies>`,
  );
  const middle = project(
    `${parent('top', '../build')}<artifactId>middle</artifactId><properties><b>1</b><a>1.1</a></properties>`,
  );
  const top = project(
    `<groupId>g</groupId><artifactId>top</artifactId><properties><c>3</c><a>1.0</a></properties><dependencyManagement><dependencies>${dependency('a', property('a'))}</dependencies></dependencyManagement>`,
  );
  const path = 'x/own/pom.xml';
  const files = [
    { path: 'x/pom.xml', bytes: middle },
    { path: 'build/pom.xml', bytes: top },
  ];
  const alone = readListing(own, path);
  assert.deepEqual([shown(alone), alone.wants], [['d/b@2!'], ['x/pom.xml']]);
  const halfway = readListing(own, path, files.slice(0, 1));
  assert.deepEqual([shown(halfway), halfway.wants], [['d/b@2!'], ['build/pom.xml']]);
  const complete = readListing(own, path, files);
  assert.deepEqual([shown(complete), complete.wants], [['d/a@1.1!', 'd/b@2!', 'd/c@3!'], undefined]);
  assert.equal(complete.error, 'An entry is not understood: d/unknown');
  const range = project(`<dependencies>${dependency('a', '[1,2)')}</dependencies>`);
  assert.deepEqual(readListing(range, 'pom.xml'), { entries: [], includes: [] });
  // Another project at that path, a broken file, and a parent outside of the repository say nothing.
  for (const other of [
    project('<groupId>g</groupId><artifactId>other</artifactId><properties><c>3</c></properties>'),
    Buffer.from('<'),
  ])
    assert.deepEqual(shown(readListing(own, path, [{ path: 'x/pom.xml', bytes: other }])), ['d/b@2!']);
  assert.equal(readListing(own, 'pom.xml').wants, undefined);
  assert.throws(
    () =>
      readListing(own, path, [
        { path: 'x/pom.xml', bytes: project(`${parent('own', 'own')}<artifactId>middle</artifactId>`) },
      ]),
    /^Unreadable: Its parents form a circle\.$/,
  );
  const chain = Array.from({ length: 12 }, (_, index) => ({
    path: `${'p/'.repeat(12 - index)}pom.xml`,
    bytes: project(`${parent(`p${index + 1}`)}<artifactId>p${index}</artifactId>`),
  }));
  assert.throws(() => readListing(chain[0]!.bytes, chain[0]!.path, chain), /more than 10 parents/);
});

test('a package is listed once, also where a bill of materials names itself as the file that it was read from', () => {
  const properties = [{ name: 'gitlab:dependency_scanning:input_file:path', value: 'own.cdx.json' }];
  const purl = 'pkg:npm/minimist@1.2.5';
  const document = { bomFormat: 'CycloneDX', specVersion: '1.6', components: [{ purl, properties }, { purl }] };
  const { entries } = written('own.cdx.json', JSON.stringify(document));
  assert.deepEqual(
    entries.map(({ name, source_path }) => [name, source_path]),
    [['minimist', null]],
  );
});

test('packages of distributions come from bills of materials, with the source package that advisories are about', () => {
  const { entries } = written(
    'image.cdx.json',
    JSON.stringify({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      metadata: { properties: [{ name: 'gitlab:dependency_scanning:input_file:path', value: 'Dockerfile' }] },
      components: [
        {
          purl: 'pkg:deb/debian/libssl1.1@1.1.1n-0%2Bdeb11u3?arch=amd64&upstream=openssl&distro=debian-11',
          licenses: [{ expression: 'OpenSSL AND MIT' }],
        },
        {
          purl: 'pkg:apk/alpine/busybox@1.36.1-r5?distro=alpine-3.19.1',
          components: [{ purl: 'pkg:golang/golang.org/x/net@v0.1.0' }],
        },
        { purl: 'pkg:generic/thing@1' },
        { purl: 'pkg:deb/debian/libc6@2.36-9+b1?upstream=glibc%402.36-9+deb12u4&distro=debian-12' },
        { purl: 'pkg:maven/org.slf4j/slf4j-api@1.7.30' },
      ],
    }),
  );
  assert.deepEqual(
    entries.map(({ name, version, manager, ecosystem, advised_name, source_path, licenses }) => [
      name,
      version,
      manager,
      ecosystem,
      advised_name,
      source_path,
      licenses,
    ]),
    [
      ['libssl1.1', '1.1.1n-0+deb11u3', 'deb', 'Debian:11', 'openssl', 'Dockerfile', ['OpenSSL', 'MIT']],
      ['busybox', '1.36.1-r5', 'apk', 'Alpine:v3.19', 'busybox', 'Dockerfile', []],
      ['golang.org/x/net', 'v0.1.0', 'go', 'Go', 'golang.org/x/net', 'Dockerfile', []],
      ['libc6', '2.36-9+deb12u4', 'deb', 'Debian:12', 'glibc', 'Dockerfile', []],
      ['org.slf4j/slf4j-api', '1.7.30', 'maven', 'Maven', 'org.slf4j/slf4j-api', 'Dockerfile', []],
    ],
  );
});

test('a lock file is read instead of the manifest beside it, and nothing below folders of foreign code and tests', () => {
  const paths =
    'go.mod go.sum lib/go.sum package-lock.json npm-shrinkwrap.json a/node_modules/b/package-lock.json test/Cargo.lock pyproject.toml uv.lock docs/pyproject.toml gradle/verification-metadata.xml build.gradle readme.md own.csproj gl-sbom-npm-npm.cdx.json';
  assert.deepEqual(
    listingsAmong(paths.split(' '), new Set()).map(({ path }) => path),
    [
      'go.mod',
      'lib/go.sum',
      'npm-shrinkwrap.json',
      'uv.lock',
      'docs/pyproject.toml',
      'gradle/verification-metadata.xml',
      'own.csproj',
      'gl-sbom-npm-npm.cdx.json',
    ],
  );
  const named = new Set(['vendor/yarn.lock', 'test/Cargo.lock', 'vendor/readme.md']);
  assert.deepEqual(
    ['a/yarn.lock', 'vendor/yarn.lock', 'vendor/a/yarn.lock', 'yarn.lock.md', 'vendor/readme.md'].map((path) =>
      isListing(path, named),
    ),
    [true, true, false, false, false],
  );
  assert.deepEqual(listingsAmong(['test/Cargo.lock', 'test/yarn.lock'], named), [
    { path: 'test/Cargo.lock', manager: 'cargo' },
  ]);
});

test('a lock file of Yarn 1 whose property names are in quotation marks lists its packages', () => {
  const lock =
    '# yarn lockfile v1\n\n\n"left-pad@^1.0.0":\n  "version" "1.0.1"\n  "resolved" "https://registry.example/left-pad-1.0.1.tgz"\n\nrepeat@1:\n  "version" "1.2.0"\n';
  assert.deepEqual(shown(written('yarn.lock', lock)), ['left-pad@1.0.1?', 'repeat@1.2.0?']);
});

test('a block of Yarn 1 is the package that all of its descriptors ask for', () => {
  const blocks = [
    '"a@^1", b@npm:a@^1:\n  version "1.0.0"',
    '"c@link:../c", "c@>=1, <2":\n  version "1.1.0"',
    'd@https://x.example/e.tgz, e@^1:\n  version "1.2.0"',
    'f@file:../f:\n  version "1.3.0"',
  ];
  const contents = written('yarn.lock', `# yarn lockfile v1\n\n\n${blocks.join('\n\n')}\n`);
  assert.deepEqual([shown(contents), contents.error], [['a@1.0.0?', 'c@1.1.0?', 'e@1.2.0?'], undefined]);
});

test('a lock file of later versions of Yarn lists what aliases and patches stand for, and says what workspaces name', () => {
  const block = (key: string, resolution: string, version: string, more = '') =>
    `"${key}":\n  version: ${version}\n  resolution: "${resolution}"\n${more}`;
  const blocks = [
    block(
      'own@workspace:.',
      'own@workspace:.',
      '0.0.0-use.local',
      '  dependencies:\n    a: ^1.0.0\n    alias: "npm:b@^2.0.0"\n    c: "patch:c@^3.0.0#./c.patch"\n    git: "https://x.example/git.git"\n',
    ),
    block('part@workspace:*, part@workspace:part', 'part@workspace:part', '0.0.0-use.local'),
    block('a@npm:>=1, a@npm:^1.0.0', 'a@npm:1.10.0', '1.10.0'),
    block('alias@npm:b@^2.0.0', 'b@npm:2.0.0', '2.0.0'),
    block('c@npm:^3.0.0', 'c@npm:3.0.0', '3.0.0'),
    block('c@patch:c@^3.0.0#./c.patch', 'c@patch:c@npm%3A3.0.0#./c.patch::version=3.0.0&hash=0', '3.0.0'),
    block('d@patch:e@^4#x', 'd@patch:e@patch%3Ae@npm%253A4.0.0%23y#x::version=4.0.0', '4.0.0'),
    block('@s/f@patch:@s/f@npm%3A5#x', '@s/f@patch:@s/f@npm%3A5.0.0#x', '5.0.0'),
    block('git@https://x.example/git.git', 'git@https://x.example/git.git#commit=0', '6.0.0'),
    block('g@link:../g::locator=own', 'g@link:../g::locator=own', '0.0.0-use.local'),
  ];
  const lock = `__metadata:\n  version: 6\n\n${blocks.join('\n')}`;
  const listed = ['@s/f@5.0.0', 'a@1.10.0!', 'b@2.0.0!', 'c@3.0.0!', 'e@4.0.0', 'git@6.0.0!'];
  for (const text of [lock, `\ufeff${lock.replaceAll('\n', '\r\n')}`]) {
    const contents = written('yarn.lock', text);
    assert.deepEqual([shown(contents), contents.error], [listed, undefined]);
  }
});

test('a lock file of Conan lists what is required in every way, also of the first versions and with binaries', () => {
  const later = {
    version: '0.5',
    requires: [['a/1.0#r%1.5', { id: ['revision'] }], 'b/2.0@user/channel#r'],
    build_requires: ['cmake/3'],
    python_requires: ['tool/1.1'],
    config_requires: ['settings/4'],
    overrides: { 'b/1.0': ['b/2.0'] },
  };
  assert.deepEqual(shown(written('conan.lock', JSON.stringify(later))), [
    'a@1.0?',
    'b@2.0?',
    'cmake@3?d',
    'settings@4?d',
    'tool@1.1?d',
  ]);
  const nodes = {
    x: {
      pref: null,
      path: '/own/conanfile.py',
      requires: { 'a/1.0': 'y' },
      build_requires: ['w'],
      python_requires: ['tool/1.1#r'],
    },
    y: { pref: 'a/1.0#r:package#p', requires: { 'b/2.0': 'z' } },
    z: { pref: 'b/2.0@user/channel:package' },
    w: { ref: 'cmake/3', context: 'build' },
  };
  assert.deepEqual(shown(written('conan.lock', JSON.stringify({ graph_lock: { nodes } }))), [
    'a@1.0!',
    'b@2.0',
    'cmake@3!d',
    'tool@1.1?d',
  ]);
  const { y, z } = nodes;
  assert.deepEqual(shown(written('conan.lock', JSON.stringify({ graph_lock: { nodes: { y, z } } }))), [
    'a@1.0?',
    'b@2.0?',
  ]);
});

test('packages of conda for several platforms and in several categories are listed once', () => {
  const about = (name: string, more: string) => `- name: ${name}\n  version: 1.10\n  ${more}\n`;
  const lock = `version: 1\npackage:\n${about('a', 'category: dev')}${about('a', 'category: main')}${about('b', 'categories: [dev]')}${about('c', 'categories: [dev, main]')}${about('D.e', 'manager: pip')}---\n`;
  assert.deepEqual(shown(written('conda-lock.yml', lock)), ['a@1.10?', 'b@1.10?d', 'c@1.10?', 'd-e@1.10?']);
});

test('a lock file of uv without a project has what is named in its manifest', () => {
  const about = (name: string, source: string, more = '') =>
    `[[package]]\nname = "${name}"\nversion = "1.0"\nsource = ${source}\n${more}`;
  const registry = '{ registry = "https://pypi.example/simple" }';
  const packages = [
    about('a', registry, 'dependencies = [{ name = "b", extra = ["x"], marker = "python_version < \'3\'" }]\n'),
    about('b', '{ git = "https://x.example/b.git#0" }'),
    about('c', '{ path = "c.whl" }'),
    about('member', '{ editable = "member" }'),
  ];
  const manifest =
    '[manifest]\nmembers = ["member"]\nrequirements = [{ name = "a" }]\n[manifest.dependency-groups]\ndev = [{ name = "c" }]\n';
  assert.deepEqual(shown(written('uv.lock', `version = 1\n${manifest}${packages.join('')}`.replaceAll('\n', '\r\n'))), [
    'a@1.0!',
    'b@1.0',
    'c@1.0!d',
  ]);
});

test('pip-deptree.json may be a tree, and lists also what only others name', () => {
  const about = (name: string, version: string) => ({
    key: name.toLowerCase(),
    package_name: name,
    installed_version: version,
  });
  const tree = [
    {
      ...about('Flask', '1.0'),
      dependencies: [{ ...about('Jinja2', '2.9'), dependencies: [{ ...about('x', '?'), dependencies: [] }] }],
    },
  ];
  const list = [{ package: about('Flask', '1.0'), dependencies: [about('Jinja2', '2.9'), about('x', '?')] }];
  for (const packages of [tree, list, [...list, { package: about('Jinja2', '2.9'), dependencies: [] }]])
    assert.deepEqual(shown(written('pip-deptree.json', JSON.stringify(packages))), ['flask@1.0!', 'jinja2@2.9']);
});

test('a lock file of Composer without packages for development may have null for them', () => {
  const lock = '{"packages":[{"name":"a/b","version":"v1.0.0"}],"packages-dev":null}';
  assert.deepEqual(shown(written('composer.lock', lock)), ['a/b@1.0.0?']);
});

test('npm-shrinkwrap.json of npm 4 is a tree without lockfileVersion', () => {
  const about = (version: string, more = {}) => ({
    version,
    from: `x@^${version}`,
    resolved: `https://registry.example/x-${version}.tgz`,
    ...more,
  });
  const lock = {
    name: 'orchard',
    version: '1.0.0',
    dependencies: { mkdirp: about('0.5.1', { dependencies: { minimist: about('0.0.8') } }), once: about('1.4.0') },
  };
  assert.deepEqual(shown(written('npm-shrinkwrap.json', JSON.stringify(lock))), [
    'minimist@0.0.8?',
    'mkdirp@0.5.1?',
    'once@1.4.0?',
  ]);
});

test('all categories of a Pipfile.lock are listed, without what comes from a folder or a repository', () => {
  const lock = {
    _meta: { sources: [] },
    default: { requests: { index: 'pypi', version: '==2.19.1' }, own: { editable: true, path: '.' } },
    develop: {},
    docs: { sphinx: { version: '==7.2.6' }, fork: { git: 'https://forge.example/fork.git', ref: 'abc' } },
  };
  assert.deepEqual(shown(written('Pipfile.lock', JSON.stringify(lock))), ['requests@2.19.1!', 'sphinx@7.2.6?d']);
});

test('a project of NuGet has its versions from overrides, properties and the shared files above it', () => {
  const reference = (name: string, more = '') => `<PackageReference Include="${name}" ${more}/>`;
  const project = Buffer.from(
    `<Project><PropertyGroup><Own>3.1.0</Own></PropertyGroup><ItemGroup>${[
      reference('Central'),
      reference('Overridden', 'VersionOverride="1.9.0"'),
      reference('ByProperty', 'Version="$(own)"'),
      reference('ByShared', 'Version="$(Shared)"'),
      reference('Floating', 'Version="1.*"'),
    ].join('')}</ItemGroup></Project>`,
  );
  const packages = `<Project><PropertyGroup><Shared Condition="'$(Shared)' == ''">4.0.0</Shared></PropertyGroup><ItemGroup><PackageVersion Include="central" Version="2.0.0"/><PackageVersion Include="Overridden" Version="1.0.0"/><GlobalPackageReference Include="Analyzer" Version="5.0.0"/></ItemGroup></Project>`;
  const build = '<Project><PropertyGroup><Shared>4.5.0</Shared><Own>9.9.9</Own></PropertyGroup></Project>';
  const path = 'src/own/Own.csproj';
  const first = readListing(project, path);
  assert.deepEqual(first.wants, [
    ...['src/own/', 'src/', ''].map((folder) => `${folder}Directory.Build.props`),
    ...['src/own/', 'src/', ''].map((folder) => `${folder}Directory.Packages.props`),
  ]);
  const given = new Map([
    ['src/Directory.Build.props', build],
    ['Directory.Packages.props', packages],
  ]);
  const parents = first.wants!.map((each) => ({
    path: each,
    bytes: given.has(each) ? Buffer.from(given.get(each)!) : null,
  }));
  const complete = readListing(project, path, parents);
  assert.deepEqual(
    [shown(complete), complete.wants, complete.error],
    [
      ['Analyzer@5.0.0!d', 'ByProperty@3.1.0!', 'ByShared@4.5.0!', 'Central@2.0.0!', 'Overridden@1.9.0!'],
      undefined,
      undefined,
    ],
  );
  const alone = readListing(
    project,
    path,
    parents.map((parent) => ({ ...parent, bytes: null })),
  );
  assert.deepEqual(shown(alone), ['ByProperty@3.1.0!', 'Overridden@1.9.0!']);
  assert.equal(alone.error, '2 entries are not understood. The first is: Central');
});

test('what a reader does not understand is an error of the file, beside what it lists', () => {
  for (const [path, text, error] of [
    [
      'requirements.txt',
      'a==1\n-r https://x.example/b.txt\nb c\n',
      '2 entries are not understood. The first is: -r https://x.example/b.txt',
    ],
    [
      'requirements.txt',
      '-i https://x.example/simple\n--extra-index-url https://y.example\na==1 --hash=sha256:0\nb==1.*\n-e .\n--editable=./c\n-e git+https://x.example/d.git#egg=d\n--editable git@x.example:e.git\n',
      '2 entries are not understood. The first is: -e git+https://x.example/d.git#egg=d',
    ],
    ['setup.cfg', '[options]\ninstall_requires =\n  a==1\n  !!\n', 'An entry is not understood: !!'],
    ['Gemfile.lock', 'GEM\n  specs:\n    a (1.0)\n    b\n', 'An entry is not understood: b'],
    ['composer.lock', '{"packages":[{"name":"a","version":"1"},{"name":"b"}]}', 'An entry is not understood: b'],
    ['conan.lock', '{"requires":["a/1","b"]}', 'An entry is not understood: b'],
    ['environment.yml', 'dependencies:\n- a=1\n- npm: [b]\n', 'An entry is not understood: {"npm":["b"]}'],
    ['go.mod', 'module m\nrequire a.b/c v1\nrequires d v1\n', 'An entry is not understood: requires'],
    ['gradle.graph.txt', 'x - y\n+--- a:b:1\n+--- c\n', 'An entry is not understood: c'],
    [
      'dependencies.lock',
      '{"x":{"a:b":{"locked":"1"},"c:d":{},"own:e":{"project":true}}}',
      'An entry is not understood: c/d',
    ],
    [
      'dependencies-compile.dot',
      'digraph {\n"own:a:1" -> "b:c:1"\n"own:a:1" -> "d"\n}',
      'An entry is not understood: d',
    ],
    [
      'maven.graph.json',
      '{"children":[{"groupId":"a","artifactId":"b","version":"1"},{"artifactId":"c","version":"1"}]}',
      'An entry is not understood: 1',
    ],
    [
      'package-lock.json',
      '{"lockfileVersion":3,"packages":{"node_modules/a":{"version":"1"},"node_modules/b":{}}}',
      'An entry is not understood: b',
    ],
    [
      'packages.config',
      '<packages><package id="a" version="1"/><package id="b"/></packages>',
      'An entry is not understood: b',
    ],
    ['Pipfile.lock', '{"default":{"a":{"version":"==1"},"b":{"version":"*"}}}', 'An entry is not understood: b'],
    [
      'pnpm-lock.yaml',
      "lockfileVersion: '9.0'\npackages:\n  a@1: {}\n  b: {}\n  c@file:../c: {}\n",
      'An entry is not understood: b',
    ],
    ['yarn.lock', '# yarn lockfile v1\na@1:\n  version "1"\nb@1:\n  resolved "x"\n', 'An entry is not understood: b'],
    [
      'yarn.lock',
      '# yarn lockfile v1\na@1:\n  version "1"\nb@1, c@1:\n  version "1"\n',
      'An entry is not understood: b@1, c@1',
    ],
    [
      'package-lock.json',
      '{"lockfileVersion":1,"dependencies":{"a":{"version":"1","dependencies":[]}}}',
      'An entry is not understood: a dependencies',
    ],
    [
      'packages.lock.json',
      '{"dependencies":{"net8":{"a":{"resolved":"1"}},"net9":[]}}',
      'An entry is not understood: net9',
    ],
    ['conan.lock', '{"requires":["a/1",["b"],{"c":"1"}]}', '2 entries are not understood. The first is: b'],
    ['conan.lock', '{"requires":["a/1","b/[>=1]"]}', 'An entry is not understood: b/[>=1]'],
    [
      'conan.lock',
      '{"graph_lock":{"nodes":{"0":{"path":"c.py"},"1":{"ref":"a/1"},"2":{"options":""}}}}',
      'An entry is not understood: {"2":{"options":""}}',
    ],
    [
      'conan.lock',
      '{"graph_lock":{"nodes":{"1":{"ref":"a/1","python_requires":{"b":1}}}}}',
      'An entry is not understood: 1 python_requires',
    ],
    [
      'conda-lock.yml',
      'package:\n- name: a\n  version: 1.10\n- name: b\n  version: [1]\n- c\n',
      '2 entries are not understood. The first is: b',
    ],
    [
      'uv.lock',
      'version = 1\n[[package]]\nname = "a"\nversion = "1"\n[[package]]\nname = "b"\nversion = 1.0\n[[package]]\nname = "c"\nsource = { git = "https://x.example/c.git" }\n',
      '2 entries are not understood. The first is: b',
    ],
    [
      'pip-deptree.json',
      '[{"package":{"key":"a","installed_version":"1"},"dependencies":{}},{"package":"b==1"}]',
      '2 entries are not understood. The first is: a dependencies',
    ],
    [
      'yarn.lock',
      '__metadata:\n  version: 8\n"a@npm:^1":\n  version: 1.0.0\n  resolution: "a@npm:1.0.0"\n"b@npm:^1":\n  version: 1.0.0\n"c@npm:^1":\n  resolution: "c@npm:1.0.0"\n"d@npm:^1": 1.0.0\n"e@patch:e@npm%ZZ":\n  version: 1.0.0\n  resolution: "e@patch:e@npm%ZZ#x"\n',
      '4 entries are not understood. The first is: b@npm:^1',
    ],
    ['dependencies.lock', '{"x":{"a:b":{"locked":"1"}},"y":[]}', 'An entry is not understood: y'],
    ['Pipfile.lock', '{"default":{"a":{"version":"==1"}},"develop":[]}', 'An entry is not understood: develop'],
    [
      'x.cdx.json',
      '{"bomFormat":"CycloneDX","specVersion":"1.6","components":[{"purl":"pkg:npm/a@1"},{"purl":"pkg:npm/b"},{"purl":"pkg:generic/c@1"},{"name":"d"}]}',
      'An entry is not understood: pkg:npm/b',
    ],
  ] as const) {
    const contents = written(path, text);
    assert.deepEqual([contents.entries.length, contents.error], [1, error], path);
  }
});
