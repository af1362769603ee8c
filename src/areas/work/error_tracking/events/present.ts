/** How the events of errors appear in replies. */
import { type Static, Type } from 'typebox';
import { Id, nullable, resource, Timestamp } from '../../../../http/index.ts';
import type { JsonObject } from '../payload/rules.ts';
import type { WholeEvent } from './queries.ts';
import type { StackTraceEntry } from './source_git.ts';

const eventFields = {
  id: Id,
  event_id: Type.String({ description: '32 hexadecimal digits' }),
  error_id: Id,
  occurred_at: Timestamp,
  received_at: Timestamp,
  environment: Type.String(),
  level: Type.String(),
  description: Type.String(),
  release: nullable(Type.String()),
  user: nullable(
    Type.Object({
      id: nullable(Type.String()),
      username: nullable(Type.String()),
      email: nullable(Type.String()),
      ip_address: nullable(Type.String()),
      name: nullable(Type.String()),
    }),
  ),
};
export const ErrorEvent = resource('ErrorEvent', eventFields);

const Frame = Type.Object({
  source: nullable(Type.Object({ file_path: Type.String(), ref: Type.String(), web_url: Type.String() })),
  blame: nullable(
    Type.Object(
      {
        commit_id: Type.String(),
        title: Type.String(),
        author_name: Type.String(),
        authored_date: Timestamp,
        web_url: Type.String(),
      },
      { description: 'The commit that last changed the line; of the last five lines that have a source' },
    ),
  ),
  lineNo: nullable(Type.Integer()),
  colNo: nullable(Type.Integer()),
  filename: nullable(Type.String()),
  abs_path: nullable(Type.String()),
  function: nullable(Type.String()),
  context: Type.Unsafe<[number, string][]>(Type.Array(Type.Array(Type.Union([Type.Integer(), Type.String()])))),
  minified: nullable(
    Type.Object(
      {
        filename: nullable(Type.String()),
        lineNo: nullable(Type.Integer()),
        colNo: nullable(Type.Integer()),
        function: nullable(Type.String()),
      },
      { description: 'What the client sent, if a source map says where it comes from' },
    ),
  ),
});

export const ErrorEventDetails = resource('ErrorEventDetails', {
  ...eventFields,
  payload: Type.Unsafe<JsonObject>({ type: 'object', description: 'What the client sent' }),
  stack_trace_entries: Type.Array(Frame, { description: 'Oldest call first' }),
  user_report: nullable(
    Type.Object({
      name: nullable(Type.String()),
      email: nullable(Type.String()),
      comments: nullable(Type.String()),
      created_at: nullable(Timestamp),
    }),
  ),
});

export const presentEventDetails = (
  event: WholeEvent,
  stack_trace_entries: StackTraceEntry[],
): Static<typeof ErrorEventDetails> => ({ ...event, stack_trace_entries });
