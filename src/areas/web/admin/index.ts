/** Administration. */
import { systemHookPages } from '../places/hook_pages.ts';
import { adminGeoPages } from './geo_pages.ts';
import { nodesPage } from './node_pages.ts';
import { adminPlacePages } from './place_pages.ts';
import { scimPage } from './scim_pages.ts';
import { adminSettingPages } from './setting_pages.ts';
import { adminSystemPages } from './system_pages.ts';
import { adminUserPages } from './user_pages.ts';

export const adminPages = [
  ...adminSystemPages,
  ...adminUserPages,
  ...adminPlacePages,
  ...adminSettingPages,
  ...systemHookPages,
  ...adminGeoPages,
  scimPage,
  nodesPage,
];
