/** The identity of a project, as it appears in to-dos and clusters. */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { momentInJson } from '../../../db/index.ts';
import { Id, nullable, resource, Timestamp } from '../../../http/index.ts';
import { namespaceFullName } from './queries.ts';

export const ProjectIdentity = resource('ProjectIdentity', {
  id: Id,
  description: nullable(Type.String()),
  name: Type.String(),
  name_with_namespace: Type.String(),
  path: Type.String(),
  path_with_namespace: Type.String(),
  created_at: Timestamp,
});

/** The joined row of `projects` as one JSON value; null without a row. */
export const projectIdentityJson: RawBuilder<Static<typeof ProjectIdentity> | null> = sql`
  case when projects.id is not null then jsonb_build_object(
    'id', projects.id, 'description', projects.description, 'name', projects.name, 'path', projects.path,
    'name_with_namespace', (select ${namespaceFullName('above')} from namespaces above where above.id = projects.namespace_id) || ' / ' || projects.name,
    'path_with_namespace', projects.full_path,
    'created_at', ${momentInJson('projects.created_at')}) end`;
