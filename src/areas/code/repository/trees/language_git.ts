/** The languages of the files of a commit, detected from their names. */
import { LRUCache } from 'lru-cache';
import { fileSizes, type Repository, readCommit } from '../../../../git/index.ts';

/** Programming and markup languages with their extensions. Text and data formats are omitted: they would outweigh the code. */
const extensions: Readonly<Record<string, string>> = {
  ABAP: 'abap',
  Ada: 'adb ads ada',
  Assembly: 'asm nasm s',
  Astro: 'astro',
  AWK: 'awk',
  Batchfile: 'bat cmd',
  C: 'c h',
  'C#': 'cs csx',
  'C++': 'cpp cc cxx hpp hh hxx c++ h++ ipp tpp',
  Clojure: 'clj cljc cljs',
  CMake: 'cmake',
  COBOL: 'cob cbl cpy',
  CoffeeScript: 'coffee',
  'Common Lisp': 'lisp lsp cl',
  Crystal: 'cr',
  CSS: 'css',
  Cuda: 'cu cuh',
  Cython: 'pyx pxd pxi',
  D: 'd di',
  Dart: 'dart',
  Dockerfile: 'dockerfile',
  Elixir: 'ex exs',
  Elm: 'elm',
  'Emacs Lisp': 'el',
  Erlang: 'erl hrl',
  'F#': 'fs fsi fsx',
  Fortran: 'f f77 f90 f95 f03 f08 for',
  GDScript: 'gd',
  GLSL: 'glsl vert frag geom',
  Go: 'go',
  Groovy: 'groovy gradle gvy',
  Hack: 'hack hhi',
  Haskell: 'hs lhs',
  HCL: 'hcl tf tfvars',
  HTML: 'html htm xhtml',
  Java: 'java',
  JavaScript: 'js mjs cjs jsx',
  Julia: 'jl',
  'Jupyter Notebook': 'ipynb',
  Kotlin: 'kt kts',
  Less: 'less',
  Lua: 'lua',
  Makefile: 'mk mak',
  MATLAB: 'matlab',
  Nim: 'nim nims',
  Nix: 'nix',
  'Objective-C': 'm',
  'Objective-C++': 'mm',
  OCaml: 'ml mli',
  Pascal: 'pas dpr lpr',
  Perl: 'pl pm',
  PHP: 'php phtml',
  PLpgSQL: 'pgsql',
  PowerShell: 'ps1 psm1 psd1',
  Prolog: 'prolog',
  Python: 'py pyw pyi',
  QML: 'qml',
  R: 'r',
  Racket: 'rkt',
  Raku: 'raku rakumod',
  ReScript: 'res resi',
  Ruby: 'rb rake gemspec ru',
  Rust: 'rs',
  Sass: 'sass',
  Scala: 'scala sbt sc',
  Scheme: 'scm ss',
  SCSS: 'scss',
  Shell: 'sh bash zsh ksh bats',
  Smalltalk: 'st',
  Solidity: 'sol',
  Starlark: 'bzl star',
  Stylus: 'styl',
  Svelte: 'svelte',
  Swift: 'swift',
  SystemVerilog: 'sv svh',
  Tcl: 'tcl',
  TeX: 'tex sty cls',
  TypeScript: 'ts tsx mts cts',
  V: 'v',
  Vala: 'vala vapi',
  VHDL: 'vhd vhdl',
  'Vim Script': 'vim',
  'Visual Basic .NET': 'vb',
  Vue: 'vue',
  WebAssembly: 'wat wast',
  XSLT: 'xsl xslt',
  Zig: 'zig',
};
const named: Readonly<Record<string, string>> = {
  CMake: 'CMakeLists.txt',
  Dockerfile: 'Dockerfile Containerfile',
  Groovy: 'Jenkinsfile',
  Makefile: 'Makefile GNUmakefile makefile',
  Ruby: 'Gemfile Rakefile Vagrantfile Podfile Fastfile',
  Starlark: 'BUILD BUILD.bazel WORKSPACE',
};

const byWord = (words: Readonly<Record<string, string>>) =>
  new Map(
    Object.entries(words).flatMap(([language, text]) => text.split(' ').map((word) => [word, language] as const)),
  );
const byExtension = byWord(extensions);
const byName = byWord(named);

/** Vendored and generated files do not count. */
const foreign =
  /(?:^|\/)(?:node_modules|bower_components|vendor|third[-_]party|dist|deps)\/|\.min\.(?:js|css)$|(?:\.pb\.go|_pb2\.py)$/i;

/** The language of a file, undefined for an uncounted one. */
function languageOf(path: string): string | undefined {
  if (foreign.test(path)) return undefined;
  const name = path.slice(path.lastIndexOf('/') + 1);
  return byName.get(name) ?? byExtension.get(/\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '');
}

const known = new LRUCache<string, Record<string, number>>({ max: 1_000 });

/**
 * The share of each language in the bytes of the files of a commit, in percent with two decimals, the largest first.
 * @param commit_id full id of a commit of the repository
 */
export async function languagesOf(repository: Repository, commit_id: string): Promise<Record<string, number>> {
  const { tree_id } = await readCommit(repository, commit_id);
  const key = `${repository.path}\0${tree_id}`;
  const before = known.get(key);
  if (before) return before;
  const sizes = new Map<string, number>();
  for await (const { path, size_bytes } of fileSizes(repository, tree_id)) {
    const language = languageOf(path);
    if (language !== undefined) sizes.set(language, (sizes.get(language) ?? 0) + size_bytes);
  }
  const total = sizes.values().reduce((sum, size) => sum + size, 0);
  const shares = [...sizes]
    .filter(([, size]) => size > 0)
    .toSorted(([, one], [, other]) => other - one)
    .map(([language, size]) => [language, Math.round((size / total) * 10_000) / 100] as const);
  const languages = Object.fromEntries(shares);
  known.set(key, languages);
  return languages;
}
