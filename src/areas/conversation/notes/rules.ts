/** What a comment may be, and who may write, change and read it. Pure functions. */
import { type GrantedNoteable, levels } from '../../../access/index.ts';
import { badRequest, type Caller, invalidAs } from '../../../http/index.ts';

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

const commandsText = '400 Bad request - Failed to apply commands.';
export const commandsFailed = () => badRequest(commandsText);
export const noReplyText = '400 Bad request - Discussion can not be replied to.';
export const cannotBeRepliedTo = () => badRequest(noReplyText);

/** What whoever writes or changes a comment can be refused for, as the documentation says it. */
export const writingTexts = ['400 Bad request - Note {:note=>[<reason>]}', commandsText];

/** Whether the caller may write comments: everyone who may read, and only members where the discussion is locked. */
export const mayComment = ({ locked, access_level }: GrantedNoteable): boolean => !locked || access_level >= levels.guest;

/** Whether the caller may read and write internal notes. */
export const mayReadInternal = ({ access_level }: GrantedNoteable): boolean => access_level >= levels.planner;

/** Whether the caller may say when something was written (docs/reference/notes.md, Parameters). */
export const mayDate = ({ access_level }: GrantedNoteable): boolean => access_level >= levels.owner;

/** Whether the caller may change or remove a comment: his own while he may comment, every one from Maintainer on. What the product wrote stays. */
export const mayChange = (on: GrantedNoteable, caller: Caller, note: { system: boolean; author_id: number | null }): boolean =>
  !note.system && mayComment(on) && (note.author_id === caller.id || on.access_level >= levels.maintainer);
