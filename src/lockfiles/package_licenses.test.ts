import assert from 'node:assert/strict';
import { test } from 'node:test';
import { licensesInText } from './license_texts.ts';
import { licensesIn } from './licenses.ts';
import { declaredIn, licensedEcosystem } from './package_licenses.ts';

const declared = (path: string, text: string) =>
  declaredIn(path, Buffer.from(text)).map(({ advised_name, version, licenses }) => [
    advised_name,
    version,
    ...licenses,
  ]);

const mit =
  'The MIT License\n\nPermission is hereby granted, free of charge, to any\nperson obtaining a copy of this software ... THE SOFTWARE IS PROVIDED "AS IS"';
const bsd =
  'Redistribution and use in source and binary forms, with or without\n * modification ... Neither the name of the copyright holder nor the names of';

test('files of packages tell their licenses, each in the way of its ecosystem', () => {
  const files: [string, string, string, ...(string | null)[][]][] = [
    [
      'a/node_modules/@b/c/package.json',
      'npm',
      '{"name":"@b/c","version":"1.0.0","license":"(MIT OR Apache-2.0)"}',
      ['@b/c', '1.0.0', 'MIT', 'Apache-2.0'],
    ],
    [
      'node_modules/old/package.json',
      'npm',
      '{"name":"old","version":"0.1.0","licenses":[{"type":"BSD 3-Clause"}]}',
      ['old', '0.1.0', 'BSD-3-Clause'],
    ],
    [
      'vendor/itoa/Cargo.toml',
      'crates.io',
      '[package]\nname = "itoa"\nversion = "1.0.1"\nlicense = "MIT/Apache-2.0"\n',
      ['itoa', '1.0.1', 'MIT', 'Apache-2.0'],
    ],
    ['vendor/github.com/a/b/LICENSE', 'Go', mit, ['github.com/a/b', null, 'MIT']],
    ['api/vendor/golang.org/x/net/LICENSE.txt', 'Go', bsd, ['golang.org/x/net', null, 'BSD-3-Clause']],
    [
      'vendor/composer/installed.json',
      'Packagist',
      '{"packages":[{"name":"A/b","version":"v1.2.0","license":["MIT"]}]}',
      ['a/b', '1.2.0', 'MIT'],
    ],
    [
      'vendor/bundle/ruby/3.3.0/specifications/rack-2.0.1.gemspec',
      'RubyGems',
      'Gem::Specification.new do |s|\n  s.name = "rack".freeze\n  s.version = "2.0.1"\n  s.licenses = ["MIT".freeze, "Ruby"]\nend\n',
      ['rack', '2.0.1', 'MIT', 'Ruby'],
    ],
    [
      'libs/Flask-1.0.dist-info/METADATA',
      'PyPI',
      'Metadata-Version: 2.1\nName: Flask\nVersion: 1.0\nLicense: BSD\n as a long text\nClassifier: License :: OSI Approved :: BSD License\n\nLicense: not in the text\n',
      ['flask', '1.0', 'BSD'],
    ],
    [
      'libs/a.dist-info/METADATA',
      'PyPI',
      'Name: a_b\nVersion: 2\nLicense-Expression: MIT AND ISC\n',
      ['a-b', '2', 'MIT', 'ISC'],
    ],
    [
      'libs/c.dist-info/METADATA',
      'PyPI',
      'Name: c\nVersion: 3\nClassifier: License :: OSI Approved :: Apache Software License\n',
      ['c', '3', 'Apache-2.0'],
    ],
    [
      'packages/Newtonsoft.Json.12.0.1/newtonsoft.json.nuspec',
      'NuGet',
      '<package><metadata><id>Newtonsoft.Json</id><version>12.0.1</version><license type="expression">MIT</license></metadata></package>',
      ['newtonsoft.json', '12.0.1', 'MIT'],
    ],
    [
      'core/pom.xml',
      'Maven',
      '<project><parent><groupId>g</groupId><version>1.0</version></parent><artifactId>core</artifactId><licenses><license><name>The Apache License, Version 2.0</name></license></licenses></project>',
      ['g/core', '1.0', 'Apache-2.0'],
    ],
  ];
  for (const [path, ecosystem, text, ...expected] of files)
    assert.deepEqual([licensedEcosystem(path), declared(path, text)], [ecosystem, expected], path);
  for (const path of ['package.json', 'vendor/LICENSE', 'vendor/symfony/console/LICENSE', 'src/METADATA', 'Cargo.toml'])
    assert.equal(licensedEcosystem(path), undefined, path);
});

test('files that say nothing, or are hostile, say nothing', () => {
  for (const text of [
    '',
    '{',
    '[]',
    '{"name":"a","version":"1","license":"SEE LICENSE IN x"}',
    '{"name":7,"license":"MIT"}',
    `{"name":"${'a'.repeat(300)}","version":"1","license":"MIT"}`,
    '['.repeat(20_000),
  ])
    assert.deepEqual(declared('node_modules/a/package.json', text), [], text.slice(0, 60));
  assert.deepEqual(declared('a/pom.xml', '<!DOCTYPE p [<!ENTITY a "b">]><project>&a;</project>'), []);
  assert.deepEqual(declared('vendor/a.b/c/LICENSE', 'All rights reserved.'), []);
});

test('licenses are recognised by their texts and their usual names', () => {
  const texts: [string, ...string[]][] = [
    ['Apache License\n   Version 2.0, January 2004', 'Apache-2.0'],
    [
      'GNU LESSER GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007\n ... GNU General Public License version 3',
      'LGPL-3.0',
    ],
    [`This project is covered by two licenses.\n${mit}\nApache License, Version 2.0`, 'Apache-2.0', 'MIT'],
    ['Redistribution and use in source and binary forms, with or without modification', 'BSD-2-Clause'],
    [
      'Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that',
      'ISC',
    ],
    ['Mozilla Public License Version 2.0', 'MPL-2.0'],
    ['This is free and unencumbered software released into the public domain.', 'Unlicense'],
    ['Anything else'],
  ];
  for (const [text, ...expected] of texts) assert.deepEqual(licensesInText(text), expected, text);
  const names = [
    'apache-2.0',
    'MIT License',
    'The MIT License (MIT)',
    'New BSD License',
    'GNU General Public License v3.0 only',
    'GPLv3',
    'Eclipse Public License - v 2.0',
    'BSD',
    'Own words',
  ];
  assert.deepEqual(
    names.map((name) => licensesIn(name)[0]),
    ['Apache-2.0', 'MIT', 'MIT', 'BSD-3-Clause', 'GPL-3.0-only', 'GPL-3.0-only', 'EPL-2.0', 'BSD', 'Own words'],
  );
});
