/** Whether work grows in proportion to its input. Hostile inputs are made four times as large, and processor times are compared, so that neither the machine nor its load matters. */

/** Input that makes expressions and loops slow when it is repeated. */
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
  ...[
    '"',
    "'",
    '"a',
    '"a"',
    '\\',
    '\\\n',
    '\\"',
    '#',
    ' #',
    '# ',
    '//',
    '// ',
    '/*',
    '/* ',
    '*/',
    '<!--',
    '%',
    '" % "',
    ' -> ',
  ],
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
/** Quadratic work that is done sooner with the first count takes less than a second with the last. */
const instant_ms = 2;
/** Quadratic work on 16,000 units takes ten times as long. */
const short_ms = 25;
/** Between the growth of linear work with four times the input, 4, and that of quadratic work, 16. */
const mostGrowth = 8;
const runs = 3;

function spent_ms(run: () => void): number {
  const before = process.threadCpuUsage();
  run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

const best_ms = (run: () => void): number => Math.min(...Array.from({ length: runs }, () => spent_ms(run)));

/**
 * Whether four times the input takes much more than four times the time, so that work which is worse than linear tells itself from a busy machine.
 * @param run does the work on an input of so many units
 */
export function growsTooFast(run: (count: number) => void): boolean {
  let count = firstCount;
  // A single run may be long by chance, and some clocks tick every few milliseconds: what is compared must be long each time.
  for (
    let spent = spent_ms(() => run(count));
    spent < short_ms || best_ms(() => run(count)) < short_ms;
    spent = spent_ms(() => run(count))
  ) {
    if (count >= lastCount) return false;
    count = spent < instant_ms ? lastCount : 4 * count;
  }
  // Caches of a busy processor make single runs longer; work that grows too fast does so each time.
  return Array.from({ length: runs }).every(
    () => best_ms(() => run(4 * count)) > mostGrowth * best_ms(() => run(count)),
  );
}
