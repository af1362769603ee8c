/** The rules for values of nodes. Pure functions. */
import { tooLong } from '../../../texts/index.ts';

const blank = "can't be blank";
const maximumUrl = 2048;

/** Why a node cannot have this name; empty when it can. */
export const nameReasons = (name: string): string[] => (name.trim() === '' ? [blank] : tooLong(name.trim(), 255));

/** Normalizes the address of a site to end with a slash; undefined if it is not a valid address. */
export function siteUrl(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined;
  if (url.username || url.password || url.search || url.hash || /[?#]$/.test(text.trim())) return undefined;
  return url.href.endsWith('/') ? url.href : `${url.href}/`;
}

/** Why a site cannot have this internal address, which may be left blank. */
export function internalUrlReasons(text: string | null): string[] {
  if (text === null || text.trim() === '') return [];
  return siteUrl(text) === undefined ? ['must be a valid URL'] : tooLong(text, maximumUrl);
}

/** Why a site cannot have this address. */
export const urlReasons = (text: string): string[] => (text.trim() === '' ? [blank] : internalUrlReasons(text));

const selections = ['namespaces', 'shards'] as const;
/** The kinds of selective synchronization. */
export type Selection = (typeof selections)[number];

/** Parses a kind of selection; null for blank text, which means that everything is copied. */
export const selectionFrom = (text: string | null): Selection | null =>
  selections.find((each) => each === text) ?? null;

export const selectionReasons = (text: string | null): string[] =>
  text === null || text === '' || selectionFrom(text) ? [] : ['is not included in the list'];

/** The largest value of an integer column. */
const largest = 2 ** 31 - 1;

/** Why a number cannot be from `least` to `most`. */
export const rangeReasons =
  (least: number, most = largest) =>
  (number: number): string[] => {
    if (number < least) return [`must be greater than or equal to ${least}`];
    return number > most ? [`must be less than or equal to ${most}`] : [];
  };

/** The reason against list elements that do not exist. */
export function unknownReasons<T>(given: readonly T[], known: readonly T[]): string[] {
  const unknown = [...new Set(given)].filter((each) => !known.includes(each));
  return unknown.length > 0 ? [`can't include: ${unknown.join(', ')}`] : [];
}
