/** Snapshots: whole repositories as archives (docs/reference/repository.md#snapshots). */
import { Type } from 'typebox';
import { projectForAdmin } from '../../../access/index.ts';
import { type Repository, repositoryOf, streamSnapshot } from '../../../git/index.ts';
import { bytes, found, get, unauthorized } from '../../../http/index.ts';
import { repositoryOfWiki, wikiOf } from '../wikis/git.ts';

/** Restricts copies of whole repositories to administrators. Others get 401, which clients of this endpoint expect. */
const snapshotReader: typeof projectForAdmin = {
  ...projectForAdmin,
  async check(call) {
    if (!call.caller?.admin) throw unauthorized();
    return projectForAdmin.check(call);
  },
};

export const snapshotRoutes = [
  get('/projects/:id/snapshot', {
    operation: 'getProjectSnapshot',
    summary: "Download a project's repository with all its refs, as a tar archive",
    description: 'The archive is a bare repository without hooks and settings. Git clones from it once it is unpacked.',
    access: snapshotReader,
    input: { wiki: Type.Boolean({ default: false, description: 'Whether to download the repository of its wiki' }) },
    returns: bytes(['application/x-tar']),
    refusals: { 404: '404 Wiki Not Found' },
    handle: async ({ db, project, input, ...services }) => {
      const repository: Repository = input.wiki
        ? repositoryOfWiki(services, found('Wiki', await wikiOf(db, { project_id: project.id, group_id: null })))
        : repositoryOf(services, project);
      return {
        body: streamSnapshot(repository),
        headers: { 'content-type': 'application/x-tar', 'content-disposition': 'attachment; filename="snapshot.tar"' },
      };
    },
  }),
];
