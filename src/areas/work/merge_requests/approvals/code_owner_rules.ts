/** Parses CODEOWNERS files, and evaluates them for changed files (docs/reference/approvals.md#code-owners). Pure functions. */
import { nextTurn } from '../../../../foundation/loop_turns.ts';

/** Further entries are ignored. */
const maximumEntries = 5_000;
const maximumSections = 100;
const maximumPattern = 255;
/** The most owners of an entry, and of a section as a whole. */
const maximumOwners = 500;
const maximumApprovals = 100;
/** The most changed files that are matched one by one. */
const maximumFiles = 1_000;
/** The most rules for one merge request. */
const maximumRules = 100;
/** The most comparisons of single characters or names: about half a second in total, yielding to other requests every few milliseconds. */
const maximumSteps = 20_000_000;
const slice_steps = 200_000;

interface Entry {
  pattern: string;
  /** The names of the pattern from the root of the repository; `**` matches any number of folders. */
  names: readonly string[];
  /** As written. An entry without owners exempts its files. */
  owners: readonly string[];
}

export interface OwnerSection {
  name: string;
  /** 0 in an optional section. */
  approvals_required: number;
  entries: Entry[];
}

/** The approvals that a section requires. */
export interface OwnerRule {
  /** The deciding pattern, or the name of the section if the rule applies to the section as a whole. */
  name: string;
  section: string;
  approvals_required: number;
  owners: readonly string[];
}

/** `[Name]`, `^[Name]` or `[Name][2]`, each optionally with owners. */
const header = /^(\^?)\[([^\]]{1,255})\](?:\[(\d{1,9})\])?(?:\s(.*))?$/;
const isOwner = (word: string): boolean => /^@[\w.-]+(?:\/[\w.-]+)*$/.test(word) || /^[^@\s\0]+@[^@\s\0]+$/.test(word);

/** The owners in a line, up to a comment. */
function ownersIn(words: string): string[] {
  const all = words.split(/\s/).filter((word) => word !== '');
  const comment = all.findIndex((word) => word.startsWith('#'));
  return all
    .slice(0, comment < 0 ? all.length : comment)
    .filter(isOwner)
    .slice(0, maximumOwners);
}

/** The end of the pattern in a line: the first space that is not escaped by a backslash. */
function patternEnd(line: string): number {
  let at = 0;
  while (at < line.length && line[at] !== ' ' && line[at] !== '\t') at += line[at] === '\\' ? 2 : 1;
  return Math.min(at, line.length);
}

/** A pattern without a leading slash matches in every folder; one with a trailing slash matches everything below a folder. */
function namesOf(pattern: string): string[] {
  const names = pattern.split('/').filter((name) => name !== '');
  if (!pattern.startsWith('/') && names[0] !== '**') names.unshift('**');
  if (pattern.endsWith('/') && names.at(-1) !== '**') names.push('**');
  if (names.at(-1) === '**') names.push('*');
  return names;
}

/** The section for a header: sections whose names differ only in case are merged, with the strictest requirement. */
function opened(sections: Map<string, OwnerSection>, name: string, approvals_required: number): OwnerSection {
  const key = name.toLowerCase();
  const section = sections.get(key) ?? { name, approvals_required: 0, entries: [] };
  section.approvals_required = Math.max(section.approvals_required, approvals_required);
  if (sections.has(key) || sections.size < maximumSections) sections.set(key, section);
  return section;
}

/**
 * The sections of a CODEOWNERS file that have entries, in order. Invalid lines are ignored. Entries before the first section belong to a section named `codeowners`.
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
 * Whether a pattern matches a sequence: names of a path, or characters of a name. On a mismatch, only the last star is extended by one, never an earlier one, so the time is
 * bounded by the product of both lengths.
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

/** Whether an entry matches a file, by the names in its path. Most entries do not match, which the last name reveals soonest. */
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

/** Every section with all of its owners, used if there is too much to evaluate, so that large changes cannot bypass owners. */
const wholeSections = (sections: readonly OwnerSection[]): OwnerRule[] =>
  sections.flatMap(({ name, approvals_required, entries }) => {
    // Entries share the default owners, which are processed once, so this takes no longer than reading the file.
    const lists = new Set(entries.map((entry) => entry.owners));
    const owners = [...new Set([...lists].flat())].slice(0, maximumOwners);
    return owners.length > 0 ? [{ name, section: name, approvals_required, owners }] : [];
  });

/**
 * The rules for changed files: in each section, the last entry that matches a file applies. Yields to other requests.
 * @param paths paths of the changed files; undefined if there are too many
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
