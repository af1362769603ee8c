/** The names of emoji. */
import { gemoji } from 'gemoji';

const names = new Set(gemoji.flatMap((emoji) => emoji.names));

/** Aliases: votes have one name each. */
const votes: Record<string, string> = { '+1': 'thumbsup', '-1': 'thumbsdown' };

/**
 * The name under which a reaction is stored.
 * @param text without colons
 * @returns undefined for an unknown emoji
 */
export const emojiNamed = (text: string): string | undefined =>
  names.has(text) ? (Object.hasOwn(votes, text) ? votes[text] : text) : undefined;

/** The opposite vote, undefined for other emoji. */
export const oppositeOf = (name: string): string | undefined =>
  name === 'thumbsup' ? 'thumbsdown' : name === 'thumbsdown' ? 'thumbsup' : undefined;
