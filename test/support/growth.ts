/** Whether work grows in proportion to its input. Hostile inputs are doubled, and the processor's time for each is compared, so that neither the machine nor its load matters. */

/** What expressions and loops stumble over when it is repeated. */
export const hostileUnits: readonly string[] = [
  ...[
    ' ',
    '\t',
    '\n',
    '\r\n',
    ' \n',
    '\u2028',
    'a',
    'a ',
    'a\n',
    ' a',
    '0',
    '.',
    'a.',
    '-',
    '- ',
    '_',
    ',',
    ':',
    'a:',
    ';',
    '=',
    '==',
    '= ',
  ],
  ...['"', "'", '"a', '"a"', '\\', '\\\n', '\\"', '#', ' #', '# ', '//', '// ', '/*', '/* ', '*/', '<!--', '%', '" % "', ' -> '],
  ...[
    '(',
    '[',
    '{',
    '<',
    ')',
    ']',
    '}',
    '>',
    'a(',
    'a[',
    'a[]',
    'a{',
    '[a',
    '[[',
    '[a]\n',
    '(a) ',
    '- [',
    '? ',
    '- - ',
    'a: ',
    '<a>',
    '<a ',
    '<a/>',
    '</a>',
  ],
  ...[
    '@',
    'a@',
    '@a',
    ' @ ',
    '/',
    'a/',
    '|',
    '|-\n',
    '&a ',
    '&a',
    '*a ',
    '!',
    '!a ',
    '${',
    `\${a}`,
    '$(',
    '$(a)',
    '&amp;',
    '<![CDATA[',
    ']]>',
    '--a',
    ' --a',
  ],
  ...[
    'a = 1\n',
    'a==1\n',
    'a: 1\n',
    '"a": 1,',
    '  a\n',
    '    a (1)\n',
    'a\n  b\n',
    '-r a\n',
    'via -r ',
    'install_requires=[',
    'group: ',
    'node_modules/',
  ],
];

const firstCount = 1_000;
const lastCount = 16_000;
/** Quadratic work on 16,000 units takes ten times as long. */
const short_ms = 25;
/** Between that of linear work, 2, and that of quadratic work, 4. */
const mostGrowth = 3.2;
const runs = 3;

function spent_ms(run: () => void): number {
  const before = process.threadCpuUsage();
  run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

const best_ms = (run: () => void): number => Math.min(...Array.from({ length: runs }, () => spent_ms(run)));

/**
 * Whether twice the input takes much more than twice the time, two doublings in a row.
 * @param run does the work on an input of so many units
 */
export function growsTooFast(run: (count: number) => void): boolean {
  let count = firstCount;
  while (spent_ms(() => run(count)) < short_ms) {
    if (count >= lastCount) return false;
    count *= 4;
  }
  const [once, twice] = [best_ms(() => run(count)), best_ms(() => run(2 * count))];
  return twice > mostGrowth * once && best_ms(() => run(4 * count)) > mostGrowth * twice;
}
