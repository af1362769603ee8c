/** Broadcast messages from administrators to all users (docs/reference/broadcast_messages.md). */
import { type Static, type TObject, Type } from 'typebox';
import { admin, anyone } from '../../../access/index.ts';
import { stamped } from '../../../db/index.ts';
import {
  allOptional,
  checked,
  del,
  deleteFound,
  found,
  get,
  Id,
  invalid,
  NotBlank,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  put,
  resource,
  Timestamp,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { hexColorReasons, tooLong } from '../../../texts/index.ts';
import { addMessage, tooManyText } from './actions.ts';
import { type MessageRow, messages } from './queries.ts';
import { isActive, targetLevels, themes } from './rules.ts';

const Message = resource('BroadcastMessage', {
  id: Id,
  message: Type.String(),
  starts_at: Timestamp,
  ends_at: Timestamp,
  color: nullable(Type.String()),
  font: nullable(Type.String()),
  target_access_levels: Type.Array(Type.Integer()),
  target_path: nullable(Type.String()),
  broadcast_type: Type.Enum(['banner', 'notification']),
  theme: Type.Enum([...themes]),
  dismissable: Type.Boolean(),
  active: Type.Boolean({ description: 'Whether it is shown now' }),
});

const present = ({ show_in_cli: _, broadcast_type, theme, ...row }: MessageRow): Static<typeof Message> => ({
  ...row,
  broadcast_type: broadcast_type as Static<typeof Message>['broadcast_type'],
  theme: theme as Static<typeof Message>['theme'],
  active: isActive(row, new Date()),
});

const Color = () => checked(nullable(Type.String({ description: '`#rgb` or `#rrggbb`' })), hexColorReasons);

const message = checked(NotBlank({ description: 'Markdown of one paragraph, at most 10,000 characters' }), (text) =>
  tooLong(text, 10_000),
);

const fields = allOptional({
  starts_at: Timestamp,
  ends_at: Timestamp,
  color: Color(),
  font: Color(),
  target_access_levels: Type.Array(Type.Enum([...targetLevels]), {
    description: 'Roles in the project or group of the page: 10, 15, 20, 30, 40, 50; none for everybody',
    maxItems: targetLevels.length,
  }),
  target_path: checked(
    nullable(Type.String({ description: 'Path of pages, in which `*` stands for any text' })),
    (path) => tooLong(path ?? '', 255),
  ),
  broadcast_type: Type.Enum(['banner', 'notification']),
  theme: Type.Enum([...themes]),
  dismissable: Type.Boolean({ description: 'Whether readers can hide it' }),
  show_in_cli: Type.Boolean({ description: 'Whether a banner is also shown after a push' }),
});

const orderText = 'must be after starts_at';

/** @throws ApiError 400 if the message would end before it starts */
function checkTimes({ starts_at, ends_at }: { starts_at: string; ends_at: string }): void {
  if (Date.parse(ends_at) <= Date.parse(starts_at)) throw invalid({ ends_at: [orderText] });
}

const hour_ms = 3_600_000;

/** By default, a message is shown at once and for an hour. */
const timesOf = ({ starts_at, ends_at }: Static<TObject<typeof fields>>) => {
  const start = starts_at ?? new Date().toISOString();
  return { starts_at: start, ends_at: ends_at ?? new Date(Date.parse(start) + hour_ms).toISOString() };
};

const which = { id: Id };

export const broadcastMessageRoutes = [
  get('/broadcast_messages', {
    operation: 'listBroadcastMessages',
    summary: 'List broadcast messages, newest first',
    access: anyone,
    input: paging,
    returns: pageOf(Message),
    handle: async ({ db, input }) => mapPage(await paginate(db, messages(db).orderBy('id', 'desc'), input), present),
  }),
  get('/broadcast_messages/:id', {
    operation: 'getBroadcastMessage',
    summary: 'Show a broadcast message',
    access: anyone,
    input: which,
    returns: one(Message),
    handle: async ({ db, input }) =>
      present(found(undefined, await messages(db).where('id', '=', input.id).executeTakeFirst())),
  }),
  post('/broadcast_messages', {
    operation: 'createBroadcastMessage',
    summary: 'Show a message to everybody, by default for an hour',
    access: admin,
    input: { message, ...fields },
    returns: one(Message),
    refusals: { 400: [`ends_at: ${orderText}`, `base: ${tooManyText}`] },
    handle: async ({ db, input }) => {
      const times = timesOf(input);
      checkTimes(times);
      return present(await addMessage(db, { ...input, ...times }));
    },
  }),
  put('/broadcast_messages/:id', {
    operation: 'updateBroadcastMessage',
    summary: 'Update a broadcast message',
    access: admin,
    input: { ...which, message: optional(message), ...fields },
    returns: one(Message),
    refusals: { 400: `ends_at: ${orderText}` },
    handle: ({ db, input: { id, ...given } }) =>
      db.transaction().execute(async (tx) => {
        const row = found(undefined, await messages(tx).where('id', '=', id).forUpdate().executeTakeFirst());
        checkTimes({ ...row, ...given });
        await tx.updateTable('broadcast_messages').set(stamped(given)).where('id', '=', id).execute();
        return present(await messages(tx).where('id', '=', id).executeTakeFirstOrThrow());
      }),
  }),
  del('/broadcast_messages/:id', {
    operation: 'deleteBroadcastMessage',
    summary: 'Delete a broadcast message',
    access: admin,
    input: which,
    returns: nothing,
    handle: ({ db, input }) => deleteFound(db, 'broadcast_messages', input.id),
  }),
];
