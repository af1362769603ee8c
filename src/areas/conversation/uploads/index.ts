/** What other areas may use of uploads. */
export { carryUploads } from './actions.ts';
export { uploadDoorway, uploadUrl } from './http.ts';
export { uploadedFiles } from './queries.ts';
