// Renews src/pages/icon_shapes.ts from an unpacked package lucide-static: node scripts/vendor_icons.ts <folder>
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Our names of icons, and the names in the package. */
const names: Readonly<Record<string, string>> = {
  alert: 'triangle-alert',
  bell: 'bell',
  board: 'columns-3',
  book: 'book-open',
  branch: 'git-branch',
  bug: 'bug',
  calendar: 'calendar',
  closed: 'circle-check',
  clock: 'clock',
  code: 'code',
  commit: 'git-commit-horizontal',
  copy: 'copy',
  dots: 'ellipsis',
  down: 'chevron-down',
  download: 'download',
  eye: 'eye',
  fail: 'circle-x',
  file: 'file',
  flag: 'flag',
  flow: 'workflow',
  folder: 'folder',
  fold: 'unfold-vertical',
  fork: 'git-fork',
  gear: 'sliders-horizontal',
  group: 'users',
  inbox: 'inbox',
  issue: 'circle-dot',
  link: 'link',
  lock: 'lock',
  menu: 'menu',
  merge_request: 'git-pull-request-arrow',
  merged: 'git-merge',
  milestone: 'milestone',
  ok: 'circle-check',
  pack: 'package',
  pencil: 'pencil',
  play: 'play',
  plus: 'plus',
  retry: 'rotate-cw',
  rewind: 'history',
  run: 'loader-circle',
  search: 'search',
  server: 'server',
  shield: 'shield',
  skip: 'circle-slash',
  star: 'star',
  tag: 'tag',
  talk: 'message-square',
  trash: 'trash-2',
  upload: 'upload',
  user: 'user',
  wait: 'circle',
  weight: 'weight',
};

const [folder = ''] = process.argv.slice(2);
const read = (file: string) => readFileSync(path.join(folder, file), 'utf8');
/** The markup inside of the `svg`, in one line. */
const shapeOf = (file: string) =>
  /<svg[^>]*>([\s\S]*)<\/svg>/
    .exec(read(`icons/${file}.svg`))![1]!
    .replace(/\s*\n\s*/g, '')
    .replaceAll(' />', '/>');
const { version } = JSON.parse(read('package.json')) as { version: string };
const license = read('LICENSE').trim().split('\n');
const shapes = Object.entries(names).map(([name, file]) => `  ${name}: '${shapeOf(file)}',`);

writeFileSync(
  path.join(import.meta.dirname, '../src/pages/icon_shapes.ts'),
  [
    `// Written by scripts/vendor_icons.ts from lucide-static ${version}. Do not edit. Its license:`,
    '//',
    ...license.map((line) => `// ${line}`.trimEnd()),
    '',
    '/** What each icon consists of, in a square of 24 by 24 with lines of width 2. */',
    'export const iconShapes = {',
    ...shapes,
    '} as const;',
    '',
  ].join('\n'),
);
