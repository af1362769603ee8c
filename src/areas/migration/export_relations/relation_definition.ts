/** All exported relations, in the order of export lists. */
import { groupRelations, projectRelations } from '../relations.ts';
import type { ExportOwner, Relation } from './definition.ts';
import { lfsArchive } from './lfs_queries.ts';
import { repositoryArchive } from './repository_actions.ts';
import { uploadArchive } from './upload_queries.ts';

export const relationsOf: Readonly<Record<ExportOwner['kind'], readonly Relation[]>> = {
  project: [...projectRelations, uploadArchive, lfsArchive, repositoryArchive],
  group: [...groupRelations, uploadArchive],
};
