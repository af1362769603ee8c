/** Sections of changelogs, and their position in a file (docs/reference/changelogs.md). Pure functions. */
import { compare, parse } from 'semver';
import { rendered, type Value } from './template_rules.ts';

/** A version without its `v` prefix. */
export const withoutV = (version: string): string => version.replace(/^v/, '');

const number = '(?:0|[1-9]\\d{0,14})';
const identifier = '(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)';
const build = '[0-9A-Za-z-]+';

/** A semantic version with or without `v`, with numbers small enough to compare. */
export const versionPattern = `^v?${number}(?:\\.${number}){2}(?:-${identifier}(?:\\.${identifier})*)?(?:\\+${build}(?:\\.${build})*)?$`;
const versionForm = new RegExp(versionPattern, 'u');
const isVersion = (text: string): boolean => versionForm.test(text);

const versionInTag =
  /(?:^|[^\d.])((?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})(?:-[0-9A-Za-z.-]{1,100})?(?:\+[0-9A-Za-z.-]{1,100})?)$/;

/**
 * The version in the name of a tag that matches a project's expression.
 * @param groups the groups of the expression: `major`, `minor`, `patch`, `pre` and `meta`. Without the first three, the version is the last part of the name.
 */
export function versionOfTag(tag: string, groups: Readonly<Record<string, string>>): string | undefined {
  const { major, minor, patch, pre, meta } = groups;
  if (!major || !minor || !patch) return versionInTag.exec(tag)?.[1];
  return `${major}.${minor}.${patch}${pre ? `-${pre}` : ''}${meta ? `+${meta}` : ''}`;
}

/** A tag with its version. */
export interface VersionTag {
  tag: string;
  version: string;
}

/** The version tags of a project without an expression: `1.2.3` and `v1.2.3`. */
export const usualVersions = (tags: readonly string[]): VersionTag[] =>
  tags.filter(isVersion).map((tag) => ({ tag, version: withoutV(tag) }));

/** The tag of the newest stable version below the given one. */
export function newestBelow(version: string, tags: readonly VersionTag[]): string | undefined {
  const below = tags.flatMap(({ tag, version: found }) => {
    const parsed = parse(found);
    return parsed && parsed.prerelease.length === 0 && compare(parsed, withoutV(version)) < 0 ? [{ tag, parsed }] : [];
  });
  return below.toSorted((a, b) => compare(b.parsed, a.parsed))[0]?.tag;
}

export interface Entry {
  title: string;
  category: string;
  commit: { reference: string; trailers: Readonly<Record<string, string>> };
  author?: { reference: string; credit: boolean };
  merge_request?: { reference: string };
}

export const usualTemplate = `{% if categories %}
{% each categories %}
### {{ title }} ({% if single_change %}1 change{% else %}{{ count }} changes{% end %})

{% each entries %}
- [{{ title }}]({{ commit.reference }})\\
{% if author.credit %} by {{ author.reference }}{% end %}\\
{% if merge_request %} ([merge request]({{ merge_request.reference }})){% end %}

{% end %}

{% end %}
{% else %}
No changes.
{% end %}`;

/** Categories in the order of their first entries. */
function categoriesOf(entries: readonly Entry[], titles: Readonly<Record<string, string>>): Value[] {
  const byTitle = Map.groupBy(entries, ({ category }) =>
    Object.hasOwn(titles, category) ? titles[category]! : category,
  );
  return Array.from(byTitle, ([title, of]) => ({
    title,
    count: of.length,
    single_change: of.length === 1,
    entries: of.map(({ category: _, ...entry }) => ({ ...entry })),
  }));
}

/**
 * The section of a version.
 * @param date formatted
 * @throws InvalidTemplate
 */
export function sectionOf(
  { version, date }: { version: string; date: string },
  entries: readonly Entry[],
  { template, categories }: { template: string; categories: Readonly<Record<string, string>> },
): string {
  const body = rendered(template, { version: withoutV(version), date, categories: categoriesOf(entries, categories) });
  const compact = body.trim().replaceAll(/\n{3,}/g, '\n\n');
  return `## ${withoutV(version)} (${date})\n\n${compact}\n`;
}

/** Inserts a section into a changelog, before the section of the first lower version. */
export function withSection(changelog: string, version: string, section: string): string {
  const lines = changelog.split('\n');
  const at = lines.findIndex((line) => {
    const [, found] = /^## v?(\d+\.\d+\.\d+\S*)/.exec(line) ?? [];
    return found !== undefined && isVersion(found) && compare(found, withoutV(version)) < 0;
  });
  if (at >= 0) return [...lines.slice(0, at), ...section.split('\n'), ...lines.slice(at)].join('\n');
  const before = changelog.trimEnd();
  return before === '' ? section : `${before}\n\n${section}`;
}

const months = 'January February March April May June July August September October November December'.split(' ');
const two = (number: number): string => String(number).padStart(2, '0');

/** Formats a time in UTC by a `strftime` format; unknown directives stay. */
export function dateIn(format: string, date: Date): string {
  const month = months[date.getUTCMonth()]!;
  const parts: Readonly<Record<string, string>> = {
    Y: String(date.getUTCFullYear()),
    y: two(date.getUTCFullYear() % 100),
    m: two(date.getUTCMonth() + 1),
    d: two(date.getUTCDate()),
    e: String(date.getUTCDate()).padStart(2),
    B: month,
    b: month.slice(0, 3),
    H: two(date.getUTCHours()),
    M: two(date.getUTCMinutes()),
    S: two(date.getUTCSeconds()),
    '%': '%',
  };
  return format.replaceAll(/%([A-Za-z%])/g, (all, letter: string) => parts[letter] ?? all);
}

const revertPattern = /^This reverts commit ([0-9a-f]{40,64})/gm;

/** Removes commits that later ones revert. @param commits newest first */
export function unreverted<C extends { id: string; message: string }>(commits: readonly C[]): C[] {
  const reverted = new Set<string>();
  return commits.filter(({ id, message }) => {
    if (reverted.has(id)) return false;
    for (const [, target] of message.matchAll(revertPattern)) reverted.add(target!);
    return true;
  });
}
