/** Languages and the files that are written in them. */
import type { StreamParser } from '@codemirror/streamparser';
import type { Parser } from '@lezer/common';

/** A grammar, or a parser that reads line by line. */
export type Grammar = { tree: Parser } | { lines: StreamParser<unknown> };

type Load = () => Promise<Grammar>;

const tree = async (parser: Promise<Parser>): Promise<Grammar> => ({ tree: await parser });
const lines = async <State>(parser: Promise<StreamParser<State>>): Promise<Grammar> => ({
  lines: (await parser) as StreamParser<unknown>,
});

const script = (dialect: string) => () =>
  tree(import('@lezer/javascript').then(({ parser }) => parser.configure({ dialect })));
const css = () => tree(import('@lezer/css').then(({ parser }) => parser));
const html = () => tree(import('@lezer/html').then(({ parser }) => parser));
const xml = () => tree(import('@lezer/xml').then(({ parser }) => parser));
const c = () => tree(import('@lezer/cpp').then(({ parser }) => parser));
const clike = (name: 'csharp' | 'kotlin' | 'scala' | 'dart' | 'objectiveC') => () =>
  lines(import('@codemirror/legacy-modes/mode/clike').then((all) => all[name]));
const shell = () => lines(import('@codemirror/legacy-modes/mode/shell').then((all) => all.shell));
const ruby = () => lines(import('@codemirror/legacy-modes/mode/ruby').then((all) => all.ruby));
const properties = () => lines(import('@codemirror/legacy-modes/mode/properties').then((all) => all.properties));

/** By the end of the name of a file, in lower case. */
const byExtension: Readonly<Record<string, Load>> = {
  ...Object.fromEntries(['js', 'mjs', 'cjs', 'jsx'].map((name) => [name, script('jsx')])),
  ...Object.fromEntries(['ts', 'mts', 'cts'].map((name) => [name, script('ts')])),
  tsx: script('jsx ts'),
  py: () => tree(import('@lezer/python').then(({ parser }) => parser)),
  go: () => tree(import('@lezer/go').then(({ parser }) => parser)),
  rs: () => tree(import('@lezer/rust').then(({ parser }) => parser)),
  java: () => tree(import('@lezer/java').then(({ parser }) => parser)),
  json: () => tree(import('@lezer/json').then(({ parser }) => parser)),
  php: () => tree(import('@lezer/php').then(({ parser }) => parser)),
  ...Object.fromEntries(
    ['yaml', 'yml'].map((name) => [name, () => tree(import('@lezer/yaml').then(({ parser }) => parser))]),
  ),
  ...Object.fromEntries(['c', 'h', 'cc', 'cpp', 'cxx', 'hpp', 'hh'].map((name) => [name, c])),
  css,
  ...Object.fromEntries(['html', 'htm', 'vue', 'svelte'].map((name) => [name, html])),
  ...Object.fromEntries(['xml', 'svg', 'xsd', 'xsl', 'plist'].map((name) => [name, xml])),
  scss: () => lines(import('@codemirror/legacy-modes/mode/css').then((all) => all.sCSS)),
  less: () => lines(import('@codemirror/legacy-modes/mode/css').then((all) => all.less)),
  cs: clike('csharp'),
  kt: clike('kotlin'),
  kts: clike('kotlin'),
  scala: clike('scala'),
  dart: clike('dart'),
  m: clike('objectiveC'),
  ...Object.fromEntries(['sh', 'bash', 'zsh', 'ksh'].map((name) => [name, shell])),
  ...Object.fromEntries(['rb', 'rake', 'gemspec'].map((name) => [name, ruby])),
  ...Object.fromEntries(['ini', 'cfg', 'conf', 'properties', 'env'].map((name) => [name, properties])),
  clj: () => lines(import('@codemirror/legacy-modes/mode/clojure').then((all) => all.clojure)),
  cmake: () => lines(import('@codemirror/legacy-modes/mode/cmake').then((all) => all.cmake)),
  diff: () => lines(import('@codemirror/legacy-modes/mode/diff').then((all) => all.diff)),
  patch: () => lines(import('@codemirror/legacy-modes/mode/diff').then((all) => all.diff)),
  elm: () => lines(import('@codemirror/legacy-modes/mode/elm').then((all) => all.elm)),
  erl: () => lines(import('@codemirror/legacy-modes/mode/erlang').then((all) => all.erlang)),
  groovy: () => lines(import('@codemirror/legacy-modes/mode/groovy').then((all) => all.groovy)),
  hs: () => lines(import('@codemirror/legacy-modes/mode/haskell').then((all) => all.haskell)),
  jl: () => lines(import('@codemirror/legacy-modes/mode/julia').then((all) => all.julia)),
  lua: () => lines(import('@codemirror/legacy-modes/mode/lua').then((all) => all.lua)),
  pl: () => lines(import('@codemirror/legacy-modes/mode/perl').then((all) => all.perl)),
  pm: () => lines(import('@codemirror/legacy-modes/mode/perl').then((all) => all.perl)),
  proto: () => lines(import('@codemirror/legacy-modes/mode/protobuf').then((all) => all.protobuf)),
  ps1: () => lines(import('@codemirror/legacy-modes/mode/powershell').then((all) => all.powerShell)),
  r: () => lines(import('@codemirror/legacy-modes/mode/r').then((all) => all.r)),
  sql: () => lines(import('@codemirror/legacy-modes/mode/sql').then((all) => all.standardSQL)),
  swift: () => lines(import('@codemirror/legacy-modes/mode/swift').then((all) => all.swift)),
  tex: () => lines(import('@codemirror/legacy-modes/mode/stex').then((all) => all.stex)),
  toml: () => lines(import('@codemirror/legacy-modes/mode/toml').then((all) => all.toml)),
};

/** By the whole name of a file, in lower case. */
const byName: Readonly<Record<string, Load>> = {
  dockerfile: () => lines(import('@codemirror/legacy-modes/mode/dockerfile').then((all) => all.dockerFile)),
  containerfile: () => lines(import('@codemirror/legacy-modes/mode/dockerfile').then((all) => all.dockerFile)),
  'cmakelists.txt': byExtension.cmake!,
  'nginx.conf': () => lines(import('@codemirror/legacy-modes/mode/nginx').then((all) => all.nginx)),
  gemfile: ruby,
  rakefile: ruby,
  'cargo.lock': byExtension.toml!,
  '.bashrc': shell,
  '.editorconfig': properties,
};

function loaderOf(file_name: string): Load | undefined {
  const name = file_name.toLowerCase();
  if (Object.hasOwn(byName, name)) return byName[name];
  const extension = name.slice(name.lastIndexOf('.') + 1);
  return Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined;
}

/** Whether the language of a file is known. */
export const isLanguageKnown = (file_name: string): boolean => loaderOf(file_name) !== undefined;

/** The grammar of the language of a file; undefined if it is not known. */
export const grammarOf = async (file_name: string): Promise<Grammar | undefined> => loaderOf(file_name)?.();
