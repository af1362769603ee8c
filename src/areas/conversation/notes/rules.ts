/** Validation of comments, and the rights to write, change and read them. Pure functions. */
import { type Granted, levels, type Noteable } from '../../../access/index.ts';
import { badRequest, type Caller, invalidAs } from '../../../http/index.ts';
import { tooLong } from '../../../texts/index.ts';
import type { Discussable } from './definition.ts';

/** The maximum length of a comment, in characters. */
const maximumBody = 1_000_000;

/** Refusals of invalid texts, with the wording of the reference. */
const refused = (reason: string) => invalidAs('400 Bad request - Note', { note: [reason] });

/**
 * Refuses an invalid comment.
 * @throws ApiError 400
 */
export function checkBody(body: string): void {
  const [reason] = bodyReasons(body);
  if (reason !== undefined) throw refused(reason);
}

/** The reasons against the text of a comment. */
export const bodyReasons = (body: string): string[] =>
  body.trim() === '' ? ["can't be blank"] : tooLong(body, maximumBody);

const commandsText = '400 Bad request - Failed to apply commands.';
export const commandsFailed = () => badRequest(commandsText);
export const noReplyText = '400 Bad request - Discussion can not be replied to.';
export const cannotBeRepliedTo = () => badRequest(noReplyText);

export const notResolvableText = '400 Bad request - Note is not resolvable';
export const notResolvable = () => badRequest(notResolvableText);

/** The documented refusals of creating or updating a comment. */
export const writingTexts = (noun: Discussable) => [
  '400 Bad request - Note {:note=>[<reason>]}',
  ...(noun.quickActions ? [commandsText] : []),
];

/** The description of operations that create a comment. */
export const describedText = (noun: Discussable) =>
  noun.quickActions
    ? 'At most 1,000,000 characters. Quick actions in the text are executed; a text of nothing but quick actions creates no comment and answers 202.'
    : 'At most 1,000,000 characters.';

/** Whether the caller may write comments: everyone who may read, but only members if the discussion is locked. */
export const mayComment = ({ locked, access_level }: Granted<Noteable>): boolean =>
  !locked || access_level >= levels.guest;

/** Whether the caller may read and write internal notes. */
export const mayReadInternal = ({ access_level }: Granted<Noteable>): boolean => access_level >= levels.planner;

/** Whether the caller may set `created_at` (docs/reference/notes.md, Permissions). */
export const mayDate = ({ access_level }: Granted<Noteable>): boolean => access_level >= levels.owner;

/** Whether the caller may change or delete a comment: their own while they may comment, any from Maintainer up. System notes cannot be changed. */
export const mayChange = (
  on: Granted<Noteable>,
  caller: Caller,
  note: { system: boolean; author_id: number | null },
): boolean => !note.system && mayComment(on) && (note.author_id === caller.id || on.access_level >= levels.maintainer);
