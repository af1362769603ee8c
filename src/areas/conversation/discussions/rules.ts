/** What a comment may be. Pure functions. */
import { badRequest, invalidAs } from '../../../http/index.ts';

/** Characters of a comment. */
const maximumBody = 1_000_000;

/** Refusals of what was written, as the reference words them. */
const refused = (reason: string) => invalidAs('400 Bad request - Note', { note: [reason] });

/**
 * Refuses what is no comment.
 * @throws ApiError 400
 */
export function checkBody(body: string): void {
  if (body.trim() === '') throw refused("can't be blank");
  // An emoji is one character, whatever it takes in UTF-16.
  if (body.length > maximumBody && [...body].length > maximumBody)
    throw refused(`is too long (maximum is ${maximumBody} characters)`);
}

export const commandsFailed = () => badRequest('400 Bad request - Failed to apply commands.');
export const cannotBeRepliedTo = () => badRequest('400 Bad request - Discussion can not be replied to.');
