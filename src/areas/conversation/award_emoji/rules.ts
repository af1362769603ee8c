/** The names of emoji. */
import { gemoji } from 'gemoji';

const names = new Set(gemoji.flatMap((emoji) => emoji.names));

/** Names that count as another: votes have one name each. */
const votes: Record<string, string> = { '+1': 'thumbsup', '-1': 'thumbsdown' };

/**
 * The name under which a reaction is kept.
 * @param text without colons
 * @returns undefined for what is no name of an emoji
 */
export const emojiNamed = (text: string): string | undefined =>
  names.has(text) ? (Object.hasOwn(votes, text) ? votes[text] : text) : undefined;

/** The vote that excludes another, undefined for what is no vote. */
export const oppositeOf = (name: string): string | undefined =>
  name === 'thumbsup' ? 'thumbsdown' : name === 'thumbsdown' ? 'thumbsup' : undefined;
