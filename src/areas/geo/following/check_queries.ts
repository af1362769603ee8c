/** What prevents a database from being replicated, or from replicating, as sentences for the operator. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { publication } from './definition.ts';
import { followingOf } from './queries.ts';

async function problemsOfSource(db: Database): Promise<string[]> {
  const { rows } = await sql<{ sentence: string }>`
    select 'The database runs with wal_level=' || current_setting('wal_level') || ', but Geo needs logical.' as sentence
     where current_setting('wal_level') <> 'logical'
     union all
    select 'The database is not prepared for secondaries: start the server as a primary.'
     where not exists (select from pg_publication where pubname = ${publication})
     union all
    (select case when wal_status = 'lost' then 'The changes for the node ' || name || ' are no longer kept: it will copy the database anew.'
                 else 'The node ' || name || ' is not connected to the database.' end
       from geo_nodes left join pg_replication_slots on starts_with(slot_name, 'coppice_' || id || '_')
      where not "primary" and (slot_name is null or not active) order by id)`.execute(db);
  return rows.map(({ sentence }) => sentence);
}

/** The problems of the database of this site, by its role. */
export async function problemsOfDatabase({ db, geo }: Pick<Services, 'db' | 'geo'>): Promise<string[]> {
  if (geo.role === 'primary') return problemsOfSource(db);
  const following = await followingOf(db);
  if (following?.problem) return [following.problem];
  return following?.isCopied ? [] : ['The database is being copied.'];
}
