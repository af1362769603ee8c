/** Ticking tasks in a description or an own comment: the text is changed by a form to which its boxes belong. */
import { ApiError, type Values } from '../../../http/index.ts';
import { withTicks } from '../../../markdown/index.ts';
import { type PageCall, type PageForm, versionOf } from '../../../pages/index.ts';
import { Note } from '../../conversation/notes/index.ts';
import { Epic } from '../../work/epics/index.ts';
import { Issue } from '../../work/issues/index.ts';
import { MergeRequest } from '../../work/merge_requests/index.ts';
import type { Noun, ShownNote } from './definition.ts';
import { updates } from './form_rules.ts';

const changed = 'Somebody has changed this text since you opened the page. Its boxes are shown as they are now.';

const mayHaveBoxes = (text: string | null | undefined): boolean => /\[[ xX]\]/.test(text ?? '');

/** Lines that were sent. */
const linesIn = (value: unknown): ReadonlySet<number> => new Set([value ?? []].flat().map(Number));

/** The text with the boxes as they were sent. */
function tickedText(text: string, { boxes, ticked }: Values, edited: unknown): string {
  if (edited !== versionOf([text])) throw new ApiError(409, { message: changed });
  return withTicks(text, linesIn(boxes), linesIn(ticked));
}

const withoutBoxes = ({ boxes, ticked, ...others }: Values): Values => others;

const descriptionOf = {
  Issue: ({ one }: PageCall) => one(Issue, 'getProjectIssue'),
  MergeRequest: ({ one }: PageCall) => one(MergeRequest, 'getMergeRequest'),
  Epic: ({ one }: PageCall) => one(Epic, 'getEpic'),
};

/** The forms by which the boxes in the description and in own comments are saved. */
export const tickForms = (noun: Noun) =>
  ({
    tick: {
      runs: updates[noun],
      takes: async (call, fields, edited) => {
        const { description } = await descriptionOf[noun](call);
        return { ...withoutBoxes(fields), description: tickedText(description ?? '', fields, edited) };
      },
    },
    tick_note: {
      runs: `update${noun}DiscussionNote`,
      takes: async (call, fields, edited) => {
        const { note_id, epic_id } = fields;
        const named = epic_id === undefined ? { note_id } : { note_id, epic_id };
        const { body } = await call.one(Note, `get${noun}Note`, named);
        return { ...withoutBoxes(fields), body: tickedText(body, fields, edited) };
      },
      next: (_, { path, query }) => (typeof query.page === 'string' ? `${path}?page=${query.page}` : path),
    },
  }) satisfies Record<string, PageForm>;

/** The form of a description, if it may have boxes and the caller may tick them. */
export const ticksOfDescription = async (
  { may }: Pick<PageCall, 'may'>,
  noun: Noun,
  description: string | null,
): Promise<string | undefined> => (mayHaveBoxes(description) && (await may(updates[noun])) ? 'tick' : undefined);

/** The form of a comment, if it may have boxes and is an own one. */
export const ticksOfNote = (
  { caller }: Pick<PageCall, 'caller'>,
  { id, author, body, system, suggestions = [] }: ShownNote,
) =>
  // Suggestions are taken out of the text, so that its lines are others.
  caller && author?.id === caller.id && !system && suggestions.length === 0 && mayHaveBoxes(body)
    ? `tick_note-${id}`
    : undefined;
