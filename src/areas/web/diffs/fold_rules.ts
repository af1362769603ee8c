/** Which files of a diff are folded, since nobody reads them line by line. */

/** Paths of what programs write, and of copies of others' work. */
const written: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [
    /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|Gemfile\.lock|composer\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|go\.sum|flake\.lock|mix\.lock|pubspec\.lock|packages\.lock\.json|gradle\.lockfile)$/,
    'It lists the exact versions of dependencies.',
  ],
  [/(^|\/)(node_modules|vendor|third_party|bower_components)\//, 'It is a copy of the work of others.'],
  [/(\.min\.(js|css)|\.(js|css)\.map)$/, 'It is compressed by a program.'],
  [/(\.pb\.(go|cc|h)|_pb2(_grpc)?\.pyi?|\.g\.dart|\.designer\.cs|\.snap)$/i, 'It is written by a program.'],
];

/** What programs write at the start of their files. */
const mark =
  /^[+ -].{0,20}(@generated\b|Code generated .{1,80} DO NOT EDIT|This file (is|was) (auto(matically)?[- ]?)?generated)/im;
const start_chars = 2_000;

/** Why a file is folded; undefined for one that people write. @param diff its hunks */
export function foldingReason(path: string, diff: string): string | undefined {
  const found = written.find(([pattern]) => pattern.test(path));
  if (found) return found[1];
  return mark.test(diff.slice(0, start_chars)) ? 'It says that a program writes it.' : undefined;
}
