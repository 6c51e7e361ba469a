/** The entry point of the dashboard. The first requests are sent while the app is loading. */
import { sendFirstRequests } from './first-requests.js';

void sendFirstRequests(location);
void import('./start.js');
