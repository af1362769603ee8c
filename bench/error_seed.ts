/** A project with many errors: written by insert-select, as fast as the disk takes them, with every index there afterwards. */
import pg from 'pg';
import { startEmbedded } from '../src/db/embedded.ts';
import type { Instance } from './instance.ts';

export interface ErrorSeed {
  project: number;
  /** The id of the error with the most events. */
  frequent: number;
  /** Words of descriptions, with how many errors have them. */
  words: { word: string; count: number }[];
}

const days = 89;
/** How many errors a word is to have of a thousand, from the rarest to one that nearly all have. */
const shares = [0.1, 1, 10, 50, 100, 200, 500];

/** One day a partition, as after three months. */
const partitions = `
  do $$ begin
    for ago in 1..${days} loop
      execute format('create table error_tracking_events_%s partition of error_tracking_events for values from (%L) to (%L)',
        to_char(current_date - ago, 'YYYYMMDD'), (current_date - ago) || 'T00:00Z', (current_date - ago + 1) || 'T00:00Z');
    end loop;
  end $$`;

/** Some errors happen much more often than others, and some words are much more frequent than others. */
const rows = (project: number, events: number, errors: number) => `
  create temporary table vocabulary on commit drop as
    select number, translate(left(md5(number::text), 4 + number % 5), '0123456789', 'ghijklmnop') as word from generate_series(0, 1999) number;
  create temporary table said on commit drop as
    select error, string_agg(word, ' ' order by place) as text
      from generate_series(1, ${errors}) error, generate_series(1, 10) place, vocabulary
     where vocabulary.number = (power((abs(hashint8(error * 100 + place)) % 1000000) / 1000000.0, 3) * 1999)::integer group by error;
  create index on said (error);
  create temporary table drawn on commit drop as
    select n, case when n <= ${errors} then n else 1 + (power((abs(hashint8(n)) % 1000000) / 1000000.0, 3) * ${errors - 1})::integer end as error,
           now() - interval '1 second' * (abs(hashint8(n + 1000000007)) % ${(days - 1) * 86_400}) as at,
           abs(hashint8(n + 77)) as chance, abs(hashint8(n + 1234567)) as other
      from generate_series(1, ${events}) n;
  insert into error_tracking_events (project_id, event_id, received_at, error_id, occurred_at, environment, level, name, description, actor, platform,
                                     release, fingerprint, user_hash, tags, payload) overriding system value
    select ${project}, md5(n::text)::uuid, at, error, at, case when chance % 20 = 0 then 'staging' when chance % 500 = 1 then 'rehearsal' else 'production' end, 'error',
           'Error', left(text, 200), 'work', 'node', 'shop@1.' || other % 100, md5(error::text), decode(left(md5((other % 20000)::text), 16), 'hex'), '{}',
           '{"message":"' || text || '","extra":"' || repeat('x', 300) || '"}'
      from drawn join said using (error);
  insert into error_tracking_errors (id, project_id, fingerprint, platform, level, status, first_seen_at, last_seen_at, first_release, last_release, events_count, users_count)
    overriding system value
    select error_id, ${project}, min(fingerprint), 'node',
           (array['error', 'error', 'error', 'error', 'error', 'error', 'warning', 'warning', 'info', 'fatal'])[1 + error_id % 10],
           (array['unresolved', 'unresolved', 'unresolved', 'unresolved', 'unresolved', 'unresolved', 'unresolved', 'resolved', 'resolved', 'ignored'])[1 + error_id / 10 % 10],
           min(occurred_at), max(occurred_at), min(release), max(release), count(*), count(distinct user_hash)
      from error_tracking_events group by error_id;
  insert into error_tracking_error_texts (error_id, project_id, name, description, actor)
    select error, ${project}, split_part(text, ' ', 1) || 'Error', text, split_part(text, ' ', 2) || '.' || split_part(text, ' ', 3) from said;
  insert into error_tracking_error_hours (error_id, hour, count)
    select error_id, date_trunc('hour', occurred_at, 'UTC'), count(*) from error_tracking_events group by 1, 2;
  insert into error_tracking_error_users (error_id, user_hash) select distinct error_id, user_hash from error_tracking_events;
  insert into error_tracking_error_tags (error_id, key, value, count)
    select error_id, 'environment', environment, count(*) from error_tracking_events group by 1, 3 union all
    select error_id, 'release', release, count(*) from error_tracking_events group by 1, 3 union all
    select error_id, 'server_name', 'server-' || left(md5(event_id::text), 1), count(*) from error_tracking_events group by 1, 3;
  select setval(pg_get_serial_sequence('error_tracking_errors', 'id'), ${errors})`;

/** Written one by one, with triggers and foreign keys, the same rows would take an hour. */
async function fill(client: pg.Client, project: number, events: number, errors: number): Promise<void> {
  await client.query("set time zone 'UTC'");
  await client.query(partitions);
  await client.query("begin; set local session_replication_role = replica; set local work_mem = '64MB'");
  await client.query(rows(project, events, errors));
  await client.query('commit');
  await client.query('vacuum analyze');
  await client.query('checkpoint');
}

/** Of each share, the word that is closest to it. */
async function wordsOf(client: pg.Client, errors: number): Promise<ErrorSeed['words']> {
  const { rows: words } = await client.query<{ word: string; count: number }>(
    `with counted as (
       select word, count(*)::integer as count
         from (select distinct error_id, unnest(string_to_array(description, ' ')) as word from error_tracking_error_texts) as said group by word)
     select (select word from counted order by abs(count - share * ${errors / 1000}), word limit 1) as word from unnest($1::float8[]) share`,
    [shares],
  );
  const found: ErrorSeed['words'] = [];
  for (const { word } of words) {
    const containing = 'select count(*)::integer as count from error_tracking_error_texts where description ilike $1';
    found.push({ word, count: (await client.query<{ count: number }>(containing, [`%${word}%`])).rows[0]!.count });
  }
  return found;
}

/** Fills a fresh instance with one project. */
export async function seedErrors({ api, data }: Instance, events: number, errors: number): Promise<ErrorSeed> {
  const { body: project } = await api.post('/projects', { name: 'shop' });
  await api.put(`/projects/${project.id}/error_tracking/settings`, { active: true, integrated: true });
  const { connectionString, stop } = await startEmbedded(data, { use: 'shared' });
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await fill(client, project.id, events, errors);
    const { rows: most } = await client.query<{ id: string }>(
      'select id from error_tracking_errors order by events_count desc, id limit 1',
    );
    return { project: project.id, frequent: Number(most[0]!.id), words: await wordsOf(client, errors) };
  } finally {
    await client.end();
    await stop();
  }
}
