/** What a CODEOWNERS file says: who owns which files (docs/reference/approvals.md#code-owners). Pure functions. */
import { nextTurn } from '../../../../foundation/loop_turns.ts';

/** Entries after this many are ignored. */
const maximumEntries = 5_000;
const maximumSections = 100;
const maximumPattern = 255;
/** Owners of one entry, and of one section as a whole. */
const maximumOwners = 500;
const maximumApprovals = 100;
/** More files than this are not looked at one by one. */
const maximumFiles = 1_000;
/** Rules for one merge request. */
const maximumRules = 100;
/** Comparisons of single characters or names: about half a second altogether, and some milliseconds between other requests. */
const maximumSteps = 20_000_000;
const slice_steps = 200_000;

interface Entry {
  pattern: string;
  /** The names of the pattern from the root of the repository; `**` stands for any number of folders. */
  names: readonly string[];
  /** As they are written. Without any, the entry says that its files have no owners. */
  owners: readonly string[];
}

export interface OwnerSection {
  name: string;
  /** 0 in an optional section. */
  approvals_required: number;
  entries: Entry[];
}

/** Approvals that a section asks for. */
export interface OwnerRule {
  /** The pattern that decides, or the section's name when it is about the section as a whole. */
  name: string;
  section: string;
  approvals_required: number;
  owners: readonly string[];
}

/** `[Name]`, `^[Name]`, `[Name][2]`, each perhaps with owners. */
const header = /^(\^?)\[([^\]]{1,255})\](?:\[(\d{1,9})\])?(?:\s(.*))?$/;
const isOwner = (word: string): boolean => /^@[\w.-]+(?:\/[\w.-]+)*$/.test(word) || /^[^@\s\0]+@[^@\s\0]+$/.test(word);

/** The owners among the words of a line, up to a comment. */
function ownersIn(words: string): string[] {
  const all = words.split(/\s/).filter((word) => word !== '');
  const comment = all.findIndex((word) => word.startsWith('#'));
  return all
    .slice(0, comment < 0 ? all.length : comment)
    .filter(isOwner)
    .slice(0, maximumOwners);
}

/** Where the pattern of a line ends: at the first space without a backslash before it. */
function patternEnd(line: string): number {
  let at = 0;
  while (at < line.length && line[at] !== ' ' && line[at] !== '\t') at += line[at] === '\\' ? 2 : 1;
  return Math.min(at, line.length);
}

/** A pattern that does not begin with a slash is about every folder; one that ends with a slash, about everything below a folder. */
function namesOf(pattern: string): string[] {
  const names = pattern.split('/').filter((name) => name !== '');
  if (!pattern.startsWith('/') && names[0] !== '**') names.unshift('**');
  if (pattern.endsWith('/') && names.at(-1) !== '**') names.push('**');
  if (names.at(-1) === '**') names.push('*');
  return names;
}

/** The section that a header opens: sections whose names differ in case only are one, which needs what the strictest header asks for. */
function opened(sections: Map<string, OwnerSection>, name: string, approvals_required: number): OwnerSection {
  const key = name.toLowerCase();
  const section = sections.get(key) ?? { name, approvals_required: 0, entries: [] };
  section.approvals_required = Math.max(section.approvals_required, approvals_required);
  if (sections.has(key) || sections.size < maximumSections) sections.set(key, section);
  return section;
}

/**
 * The sections of a CODEOWNERS file that have entries, in their order. What is no entry is ignored. Entries before the first section belong to one that is
 * named `codeowners`.
 */
export function ownerSections(text: string): OwnerSection[] {
  const sections = new Map<string, OwnerSection>();
  let section = opened(sections, 'codeowners', 1);
  let usual: string[] = [];
  let count = 0;
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const found = header.exec(line);
    if (found) {
      const [, optional, name = '', number, owners = ''] = found;
      const required = Math.min(Math.max(Number(number ?? 1), 1), maximumApprovals);
      section = opened(sections, name.trim(), optional === '^' ? 0 : required);
      usual = ownersIn(owners);
      continue;
    }
    const end = patternEnd(line);
    if (end > maximumPattern) continue;
    if (++count > maximumEntries) break;
    const pattern = line.slice(0, end).replaceAll(/\\([ #\\])/g, '$1');
    const own = ownersIn(line.slice(end));
    section.entries.push({ pattern, names: namesOf(pattern), owners: own.length > 0 ? own : usual });
  }
  return [...sections.values()].filter(({ entries }) => entries.length > 0);
}

interface Work {
  steps: number;
}

/**
 * Whether a pattern fits a sequence: names of a path, or characters of a name. What does not fit lets the last star take one more, and no earlier one, so
 * that it takes at most the product of both lengths.
 */
function fits(
  pattern: ArrayLike<string>,
  text: ArrayLike<string>,
  star: string,
  work: Work,
  fitsOne: (wanted: string, given: string) => boolean,
): boolean {
  let [at, next, after_star, taken] = [0, 0, -1, 0];
  while (next < text.length) {
    work.steps++;
    const wanted = pattern[at];
    if (wanted === star) {
      after_star = ++at;
      taken = next;
    } else if (wanted !== undefined && fitsOne(wanted, text[next]!)) {
      at++;
      next++;
    } else if (after_star >= 0) {
      at = after_star;
      next = ++taken;
    } else return false;
  }
  while (pattern[at] === star) at++;
  return at === pattern.length;
}

const fitsCharacter = (wanted: string, given: string) => wanted === '?' || wanted === given;

/** Whether an entry is about a file, by the names in its path. Most are not, which the last name shows soonest. */
function isAboutFile({ names }: Entry, path: readonly string[], work: Work): boolean {
  const fitsName = (wanted: string, given: string) => fits(wanted, given, '*', work, fitsCharacter);
  return fitsName(names.at(-1) ?? '', path.at(-1)!) && fits(names, path, '**', work, fitsName);
}

const ruleOf = ({ name: section, approvals_required }: OwnerSection, { pattern, owners }: Entry): OwnerRule => ({
  name: pattern,
  section,
  approvals_required,
  owners,
});

/** Every section with all of its owners, when there is too much to look at, so that large changes do not get around it. */
const wholeSections = (sections: readonly OwnerSection[]): OwnerRule[] =>
  sections.flatMap(({ name, approvals_required, entries }) => {
    // Entries share the default owners, which are looked at once, so that this takes no longer than reading the file.
    const lists = new Set(entries.map((entry) => entry.owners));
    const owners = [...new Set([...lists].flat())].slice(0, maximumOwners);
    return owners.length > 0 ? [{ name, section: name, approvals_required, owners }] : [];
  });

/**
 * The rules for changed files: in each section, the last entry that matches a file decides on it. Other requests are served in between.
 * @param paths of the changed files; undefined when they are too many
 */
export async function ownerRules(
  sections: readonly OwnerSection[],
  paths: readonly string[] | undefined,
): Promise<OwnerRule[]> {
  if (paths === undefined || paths.length > maximumFiles) return wholeSections(sections);
  const split = paths.map((path) => path.split('/'));
  const work: Work = { steps: 0 };
  const rules: OwnerRule[] = [];
  let pause = slice_steps;
  for (const section of sections) {
    const deciding = new Set<Entry>();
    for (const path of split) {
      for (let at = section.entries.length - 1; at >= 0; at--) {
        if (work.steps > maximumSteps) return wholeSections(sections);
        if (work.steps > pause) {
          await nextTurn();
          pause = work.steps + slice_steps;
        }
        const entry = section.entries[at]!;
        if (!isAboutFile(entry, path, work)) continue;
        deciding.add(entry);
        break;
      }
    }
    for (const entry of section.entries)
      if (deciding.has(entry) && entry.owners.length > 0) rules.push(ruleOf(section, entry));
    if (rules.length > maximumRules) return wholeSections(sections);
  }
  return rules;
}
