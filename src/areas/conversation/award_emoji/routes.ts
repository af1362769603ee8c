/** Award emoji: reactions to issues, epics and notes. `thumbsup` and `thumbsdown` are votes (docs/reference/award_emoji.md). */
import { type TProperties, Type } from 'typebox';
import type { StoredKind } from '../../../access/index.ts';
import {
  type AnyEndpoint,
  checkUnmodified,
  del,
  found,
  get,
  Id,
  notFound,
  nothing,
  one,
  pageOf,
  post,
  unauthorized,
  withArticle,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import type { HookItem } from '../../activity/hooks/index.ts';
import { addAward, removeAward } from './actions.ts';
import { AwardEmoji, presentAward } from './present.ts';
import { awardRows, targetOf } from './queries.ts';

/** The input of a path, with the note if the path has one. */
type OfNote = { note_id?: number };

/** The texts for the awardable in operation ids and in sentences. */
type Names = readonly [noun: string, thing: string];

/** A noun that can have reactions. */
export interface Awarded {
  kind: StoredKind;
  /** How webhooks show reactions. If omitted, reactions trigger none. */
  hook?: HookItem<StoredKind>;
}

/**
 * The routes for one kind of awardable.
 * @param path of the reactions
 * @param names of the awardable
 * @param named the path parameter of the note, if there is one
 */
function routesAt(
  path: string,
  [noun, thing]: Names,
  { kind: { at }, hook }: Awarded,
  named: TProperties,
): AnyEndpoint[] {
  const [visible, reader] = [at.visible('Award Emoji'), at.reader('Award Emoji')];
  return [
    get(path, {
      operation: `list${noun}AwardEmoji`,
      summary: `List the reactions to ${thing}, oldest first`,
      access: visible,
      input: { ...named, ...paging },
      returns: pageOf(AwardEmoji),
      refusals: { 404: '404 Award Emoji Not Found' },
      handle: async ({ db, url, caller, on, input }) => {
        const { awardable } = await targetOf(db, { caller, on }, (input as OfNote).note_id);
        const page = await paginate(db, awardRows(db, awardable).orderBy('award_emoji.id'), input);
        return mapPage(page, (row) => presentAward(url, awardable, row));
      },
    }),
    get(`${path}/:award_id`, {
      operation: `get${noun}AwardEmoji`,
      summary: `Get a reaction to ${thing}`,
      access: visible,
      input: { ...named, award_id: Id },
      returns: one(AwardEmoji),
      refusals: { 404: '404 Award Emoji Not Found' },
      handle: async ({ db, url, caller, on, input }) => {
        const { awardable } = await targetOf(db, { caller, on }, (input as OfNote).note_id);
        const row = await awardRows(db, awardable).where('award_emoji.id', '=', input.award_id).executeTakeFirst();
        return presentAward(url, awardable, found(undefined, row));
      },
    }),
    post(path, {
      operation: `create${noun}AwardEmoji`,
      summary: `Add a reaction to ${thing}`,
      access: reader,
      input: { ...named, name: Type.String({ description: 'Name of an emoji, without colons' }) },
      returns: one(AwardEmoji),
      refusals: {
        404: [
          '404 Award Emoji Not Found',
          '404 Award Emoji Name has already been taken Not Found',
          '404 Award Emoji Name is not a valid emoji name Not Found',
        ],
      },
      handle: async ({ db, url, caller, on, input }) => {
        const { awardable, is_open } = await targetOf(db, { caller, on }, (input as OfNote).note_id);
        if (!is_open) throw notFound('Award Emoji');
        const added = await db
          .transaction()
          .execute((tx) => addAward(tx, { ...awardable, hook }, caller.id, input.name));
        if (typeof added === 'string') throw notFound(`Award Emoji Name ${added}`);
        return presentAward(
          url,
          awardable,
          await awardRows(db, awardable).where('award_emoji.id', '=', added).executeTakeFirstOrThrow(),
        );
      },
    }),
    del(`${path}/:award_id`, {
      operation: `delete${noun}AwardEmoji`,
      summary: `Delete a reaction to ${thing}`,
      access: reader,
      input: { ...named, award_id: Id },
      conditional: true,
      returns: nothing,
      refusals: { 404: '404 Award Emoji Not Found' },
      handle: async ({ db, caller, on, input, unmodified_since }) => {
        const { awardable } = await targetOf(db, { caller, on }, (input as OfNote).note_id);
        const row = await awardRows(db, awardable).where('award_emoji.id', '=', input.award_id).executeTakeFirst();
        const award = found(undefined, row);
        if (award.user_id !== caller.id && !caller.admin) throw unauthorized();
        checkUnmodified(award.updated_at, unmodified_since);
        await removeAward(db, { hook }, award.id);
      },
    }),
  ];
}

/** The endpoints for reactions to items of one kind, and to the notes on them. */
export function awardEmojiRoutes(awarded: Awarded): AnyEndpoint[] {
  const { kind } = awarded;
  const [{ path }, noun, thing] = [kind.at, kind.type, withArticle(kind.name)];
  return kind.endpoints([
    ...routesAt(`${path}/award_emoji`, [noun, thing], awarded, {}),
    ...routesAt(`${path}/notes/:note_id/award_emoji`, [`${noun}Note`, `a note on ${thing}`], awarded, { note_id: Id }),
  ]);
}
