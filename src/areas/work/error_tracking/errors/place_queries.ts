/** Where in the code the open errors of a project happened, for marks at lines (docs/reference/error_tracking.md). */
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import { cacheOf } from '../../../../foundation/caches.ts';

/** The errors that were seen last, and of each the innermost calls in own code. */
const [mostErrors, mostFrames] = [100, 5];
/** Larger events are not looked into. */
const largestPayload_bytes = 200_000;

/** A call of an open error in the application's own code, as the newest event says. */
export interface ErrorPlace {
  error_id: number;
  name: string;
  description: string;
  /** As the client names it. */
  filename: string;
  /** From 1. */
  line: number;
  /** The text of the line; null if the client does not send it. */
  text: string | null;
}

const known = cacheOf<number, Promise<readonly ErrorPlace[]>>(1000, { ttl: 30_000 });

async function readPlaces(db: Database, project_id: number): Promise<readonly ErrorPlace[]> {
  const { rows } = await sql<ErrorPlace>`
    select error.id as error_id, texts.name, texts.description, frame.filename, frame.line, frame.text
      from (select id from error_tracking_errors where project_id = ${project_id} and status = 'unresolved'
             order by last_seen_at desc, id desc limit ${sql.lit(mostErrors)}) error
           join error_tracking_error_texts texts on texts.error_id = error.id
           cross join lateral (
             select payload from error_tracking_events where error_id = error.id order by occurred_at desc, id desc limit 1) event
           cross join lateral (
             select event.payload::json -> 'exception' as sent where octet_length(event.payload) <= ${sql.lit(largestPayload_bytes)} offset 0) thrown
           cross join lateral (
             select coalesce(thrown.sent #> '{values,-1,stacktrace,frames}', thrown.sent #> '{-1,stacktrace,frames}') as list offset 0) stack
           cross join lateral (
             select value ->> 'filename' as filename, (value ->> 'lineno')::integer as line, value ->> 'context_line' as text
               from json_array_elements(case json_typeof(stack.list) when 'array' then stack.list else '[]'::json end)
                    with ordinality frames(value, number)
              where json_typeof(value) = 'object' and coalesce(value ->> 'in_app', 'true') <> 'false'
                and value ->> 'lineno' ~ '^[1-9][0-9]{0,8}$' and value ->> 'filename' <> ''
              order by number desc limit ${sql.lit(mostFrames)}) frame`.execute(db);
  return rows;
}

/** The places of the open errors of a project, at most 30 seconds old. @param project_id of a project whose errors the caller may read */
export function openErrorPlaces(db: Database, project_id: number): Promise<readonly ErrorPlace[]> {
  const found = known.get(project_id);
  if (found) return found;
  const asked = readPlaces(db, project_id);
  known.set(project_id, asked);
  asked.catch(() => known.delete(project_id));
  return asked;
}
