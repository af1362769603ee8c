/** The map of the API: every area and its endpoints. */
import type { AnyEndpoint } from '../http/index.ts';
import { freezePeriods } from './freeze_periods/routes.ts';
import { metadataRoutes } from './metadata/routes.ts';

export const endpoints: readonly AnyEndpoint[] = [...metadataRoutes, ...freezePeriods];
