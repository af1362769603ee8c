/** The names of emoji. */
import { gemoji } from 'gemoji';

const emoji = new Map(gemoji.flatMap(({ names, emoji }) => names.map((name) => [name, emoji])));

/** Aliases: votes have one name each. */
const votes: Record<string, string> = { '+1': 'thumbsup', '-1': 'thumbsdown' };

/**
 * The name under which a reaction is stored.
 * @param text without colons
 * @returns undefined for an unknown emoji
 */
export const emojiNamed = (text: string): string | undefined =>
  emoji.has(text) ? (Object.hasOwn(votes, text) ? votes[text] : text) : undefined;

/** The characters of a reaction; undefined if it has none. @param name as `emojiNamed` returns it */
export const emojiOf = (name: string): string | undefined => emoji.get(name);

/** The opposite vote, undefined for other emoji. */
export const oppositeOf = (name: string): string | undefined =>
  name === 'thumbsup' ? 'thumbsdown' : name === 'thumbsdown' ? 'thumbsup' : undefined;
