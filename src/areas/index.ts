/** The map of the API: every area and its endpoints. */
import type { AnyEndpoint } from '../http/index.ts';
import { freezePeriods } from './freeze_periods/routes.ts';
import { groupRoutes } from './groups/routes.ts';
import { memberRoutes } from './members/routes.ts';
import { metadataRoutes } from './metadata/routes.ts';
import { namespaceRoutes } from './namespaces/routes.ts';
import { personalAccessTokenRoutes } from './personal_access_tokens/routes.ts';
import { projectRoutes } from './projects/routes.ts';
import { branchRoutes } from './repository/branch_routes.ts';
import { commitRoutes } from './repository/commit_routes.ts';
import { repositoryFiles } from './repository_files/routes.ts';
import { userRoutes } from './users/routes.ts';
import { userStatusRoutes } from './users/status_routes.ts';

export const endpoints: readonly AnyEndpoint[] = [
  ...metadataRoutes,
  ...userRoutes,
  ...userStatusRoutes,
  ...personalAccessTokenRoutes,
  ...freezePeriods,
  ...namespaceRoutes,
  ...groupRoutes,
  ...projectRoutes,
  ...memberRoutes,
  ...branchRoutes,
  ...commitRoutes,
  ...repositoryFiles,
];
