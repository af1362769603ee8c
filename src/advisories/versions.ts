/** The order of versions, by the rules of each ecosystem. */
import { compare as comparePep440, valid as isPep440 } from '@renovatebot/pep440';
import semver from 'semver';

/** Negative when the first version is older than the second, positive when it is newer. */
type Compare = (one: string, other: string) => number;

const sign = (one: number | string, other: number | string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Numbers of any length, without their leading zeros. */
function compareDigits(one: string, other: string): number {
  const [a, b] = [one.replace(/^0+/, ''), other.replace(/^0+/, '')];
  return sign(a.length, b.length) || sign(a, b);
}

const prereleases = /^(?:alpha|beta|dev|pre|preview|rc|snapshot)$/;

/** Any version: numbers are compared as numbers; words of prereleases come before nothing, other words after it, and numbers last. */
const compareAny: Compare = (one, other) => {
  const parts = (text: string) => text.toLowerCase().match(/\d+|[a-z]+/g) ?? [];
  const [a, b] = [parts(one), parts(other)];
  const rank = (part: string | undefined) =>
    part === undefined || /^0+$/.test(part) ? 1 : /\d/.test(part) ? 3 : prereleases.test(part) ? 0 : 2;
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [left, right] = [a[at], b[at]];
    const words = left !== undefined && right !== undefined && rank(left) !== 1;
    const order =
      sign(rank(left), rank(right)) ||
      (words ? (rank(left) === 3 ? compareDigits(left, right) : sign(left, right)) : 0);
    if (order !== 0) return order;
  }
  return 0;
};

const compareSemver: Compare = (one, other) => {
  const [a, b] = [one, other].map(
    (text) => semver.parse(text.replace(/^v(?=\d)/, ''), { loose: true }) ?? semver.parse(semver.coerce(text)),
  );
  return a && b ? semver.compare(a, b) : compareAny(one, other);
};

/** Pub orders versions that differ only in their build: one without is older, and its parts are compared like those of a prerelease. */
const comparePub: Compare = (one, other) =>
  compareSemver(one, other) || (semver.valid(one) && semver.valid(other) ? semver.compareBuild(one, other) : 0);

const comparePython: Compare = (one, other) =>
  isPep440(one) && isPep440(other) ? comparePep440(one, other) : compareAny(one, other);

/** `Gem::Version`: segments of digits and letters, of which letters make a prerelease; trailing zeros do not count. */
const compareGems: Compare = (one, other) => {
  const segments = (text: string) => {
    const all = text.replaceAll('-', '.pre.').match(/\d+|[a-z]+/gi) ?? [];
    while (all.length > 0 && /^0+$/.test(all.at(-1)!)) all.pop();
    return all;
  };
  const [a, b] = [segments(one), segments(other)];
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [left = '0', right = '0'] = [a[at], b[at]];
    const [isLeft, isRight] = [/\d/.test(left), /\d/.test(right)];
    const order = isLeft !== isRight ? (isLeft ? 1 : -1) : isLeft ? compareDigits(left, right) : sign(left, right);
    if (order !== 0) return order;
  }
  return 0;
};

const mavenQualifiers = ['alpha', 'beta', 'milestone', 'rc', 'snapshot', '', 'sp'];
const mavenAliases = new Map([
  ['ga', ''],
  ['final', ''],
  ['release', ''],
  ['cr', 'rc'],
  ['a', 'alpha'],
  ['b', 'beta'],
  ['m', 'milestone'],
]);

/** A token of a Maven version with the separator before it, as in `ComparableVersion`. */
interface MavenToken {
  separator: '.' | '-';
  text: string;
}

function mavenTokens(version: string): MavenToken[] {
  const tokens: MavenToken[] = [];
  let separator: '.' | '-' = '.';
  // The short forms count only before a number, as in 1.0-b2.
  for (const [, part = '', number] of version.toLowerCase().matchAll(/(\d+|[^\d.-]+|[.-])(?=(\d?))/g)) {
    if (part === '.' || part === '-') {
      separator = part;
      continue;
    }
    const text = part.length === 1 && number === '' ? part : (mavenAliases.get(part) ?? part);
    tokens.push({ separator, text });
    separator = '-'; // between digits and letters
  }
  return withoutNothing(tokens);
}

const isNothing = ({ text }: MavenToken) => /^0*$/.test(text);

/** Zeros and empty qualifiers at the end, and before a hyphen, do not count. */
function withoutNothing(tokens: MavenToken[]): MavenToken[] {
  const kept: MavenToken[] = [];
  for (const token of tokens) {
    if (token.separator === '-' && !/^\d/.test(token.text))
      while (kept.length > 0 && isNothing(kept.at(-1)!)) kept.pop();
    kept.push(token);
  }
  while (kept.length > 0 && isNothing(kept.at(-1)!)) kept.pop();
  return kept;
}

/** A token against nothing: prereleases are before it. */
const nothingFor = ({ separator, text }: MavenToken): MavenToken => ({ separator, text: /^\d/.test(text) ? '0' : '' });

function compareTokens(left: MavenToken, right: MavenToken): number {
  const [isLeft, isRight] = [/^\d/.test(left.text), /^\d/.test(right.text)];
  if (isLeft && isRight) {
    if (left.separator !== right.separator) return left.separator === '.' ? 1 : -1;
    return compareDigits(left.text, right.text);
  }
  if (isLeft !== isRight) return isLeft ? 1 : -1;
  const rank = (text: string) =>
    mavenQualifiers.includes(text) ? mavenQualifiers.indexOf(text) : mavenQualifiers.length;
  return sign(rank(left.text), rank(right.text)) || sign(left.text, right.text);
}

const compareMaven: Compare = (one, other) => {
  const [a, b] = [mavenTokens(one), mavenTokens(other)];
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [left, right] = [a[at], b[at]];
    const order = compareTokens(left ?? nothingFor(right!), right ?? nothingFor(left!));
    if (order !== 0) return order;
  }
  return 0;
};

/** NuGet: semantic versions with up to four numbers, without regard to case. */
const compareNuget: Compare = (one, other) => {
  const split = (text: string) => {
    const [numbers = '', ...pre] = text.toLowerCase().split('+', 1)[0]!.split('-');
    return { numbers: numbers.split('.'), pre: pre.join('-') };
  };
  const [a, b] = [split(one), split(other)];
  for (let at = 0; at < 4; at++) {
    const order = compareDigits(a.numbers[at] ?? '', b.numbers[at] ?? '');
    if (order !== 0) return order;
  }
  if (a.pre === '' || b.pre === '') return sign(b.pre.length, a.pre.length);
  return semver.valid(`0.0.0-${a.pre}`) && semver.valid(`0.0.0-${b.pre}`)
    ? semver.compare(`0.0.0-${a.pre}`, `0.0.0-${b.pre}`)
    : sign(a.pre, b.pre);
};

const composerRanks = new Map([
  ['dev', 0],
  ['alpha', 1],
  ['a', 1],
  ['beta', 2],
  ['b', 2],
  ['rc', 3],
  ['patch', 5],
  ['pl', 5],
  ['p', 5],
]);

/** Composer, which compares like `version_compare` of PHP. */
const compareComposer: Compare = (one, other) => {
  const parts = (text: string) =>
    text
      .toLowerCase()
      .replace(/^v(?=\d)/, '')
      .replace(/\+.*$/, '')
      .match(/\d+|[a-z]+/g) ?? [];
  const [a, b] = [parts(one), parts(other)];
  // Unknown words come first; a version without a word comes after a release candidate and before a patch, and numbers follow.
  const rank = (part: string | undefined) =>
    part === undefined || /^0+$/.test(part) ? 4 : /^\d/.test(part) ? 6 : (composerRanks.get(part) ?? -1);
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [left, right] = [a[at], b[at]];
    const order = sign(rank(left), rank(right)) || (rank(left) === 6 ? compareDigits(left!, right!) : 0);
    if (order !== 0) return order;
  }
  return 0;
};

/** Ranks the characters of a Debian version that are not digits: `~` before the end, letters before all others. */
const weightOf = (char: string): number =>
  char === '~' ? -1 : char === '' ? 0 : /[a-z]/i.test(char) ? char.charCodeAt(0) : char.charCodeAt(0) + 256;

function compareWords(one: string, other: string): number {
  for (let at = 0; at < Math.max(one.length, other.length); at++) {
    const order = sign(weightOf(one[at] ?? ''), weightOf(other[at] ?? ''));
    if (order !== 0) return order;
  }
  return 0;
}

function compareDebianPart(one: string, other: string): number {
  const runs = (text: string) =>
    [...text.matchAll(/([^\d]*)(\d*)/g)].map(([, word = '', digits = '']) => ({ word, digits }));
  const [a, b] = [runs(one), runs(other)];
  const none = { word: '', digits: '' };
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [left, right] = [a[at] ?? none, b[at] ?? none];
    const order = compareWords(left.word, right.word) || compareDigits(left.digits, right.digits);
    if (order !== 0) return order;
  }
  return 0;
}

/** `[epoch:]upstream[-revision]`. */
const compareDebian: Compare = (one, other) => {
  const split = (text: string) => /^(?:(\d+):)?(.*?)(?:-([^-]*))?$/s.exec(text)!;
  const [a, b] = [split(one), split(other)];
  return (
    compareDigits(a[1] ?? '', b[1] ?? '') ||
    compareDebianPart(a[2]!, b[2]!) ||
    compareDebianPart(a[3] ?? '', b[3] ?? '')
  );
};

/** A number after the first one that begins with zero is a decimal fraction: `2.05` is older than `2.1`. */
const compareFractions = (one: string, other: string): number =>
  one.startsWith('0') || other.startsWith('0') ? sign(one, other) : compareDigits(one, other);

const alpineSuffixes = ['alpha', 'beta', 'pre', 'rc', '', 'cvs', 'svn', 'git', 'hg', 'p'];

/** `1.2.3a_rc1-r4`. */
const compareAlpine: Compare = (one, other) => {
  const split = (text: string) => {
    const [, numbers = '', letter = '', suffixes = '', revision = ''] =
      /^([\d.]*)([a-z]?)((?:_[a-z]+\d*)*)(?:-r(\d+))?/.exec(text) ?? [];
    return { numbers: numbers.split('.'), letter, suffixes: [...suffixes.matchAll(/_([a-z]+)(\d*)/g)], revision };
  };
  const [a, b] = [split(one), split(other)];
  for (let at = 0; at < Math.max(a.numbers.length, b.numbers.length); at++) {
    const [left, right] = [a.numbers[at], b.numbers[at]];
    const order =
      left === undefined || right === undefined
        ? sign(left === undefined ? 0 : 1, right === undefined ? 0 : 1)
        : (at === 0 ? compareDigits : compareFractions)(left, right);
    if (order !== 0) return order;
  }
  const byLetter = sign(a.letter, b.letter);
  if (byLetter !== 0) return byLetter;
  for (let at = 0; at < Math.max(a.suffixes.length, b.suffixes.length); at++) {
    const [left, right] = [a.suffixes[at], b.suffixes[at]];
    const order =
      sign(alpineSuffixes.indexOf(left?.[1] ?? ''), alpineSuffixes.indexOf(right?.[1] ?? '')) ||
      compareDigits(left?.[2] ?? '', right?.[2] ?? '');
    if (order !== 0) return order;
  }
  return compareDigits(a.revision, b.revision);
};

const orders = new Map<string, Compare>([
  ['Alpine', compareAlpine],
  ['Debian', compareDebian],
  ['Go', compareSemver],
  ['Maven', compareMaven],
  ['NuGet', compareNuget],
  ['Packagist', compareComposer],
  ['Pub', comparePub],
  ['PyPI', comparePython],
  ['RubyGems', compareGems],
  ['crates.io', compareSemver],
  ['npm', compareSemver],
]);

/** The order of versions that is part of semantic versioning. */
export const semverOrder: Compare = compareSemver;

/** The order of versions in an ecosystem of OSV, which can name a release, as in `Debian:12`. */
export const orderIn = (ecosystem: string): Compare => orders.get(ecosystem.split(':', 1)[0]!) ?? compareAny;
