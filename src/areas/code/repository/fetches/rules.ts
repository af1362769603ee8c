/** For how many days fetches are shown and kept. */
export const shown_days = 30;
