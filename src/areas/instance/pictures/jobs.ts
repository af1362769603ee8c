/** Removes pictures of other servers that nobody looks at. */
import { job } from '../../../jobs/index.ts';
import { removeOldPictures as removeSome } from './actions.ts';

/** Every night: removes pictures that were not shown for 30 days. */
export const removeOldPictures = job('remove_old_pictures', {
  input: {},
  retries: 0,
  schedule: '20 3 * * *',
  run: removeSome,
});
