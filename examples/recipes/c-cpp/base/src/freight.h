#ifndef FREIGHT_H
#define FREIGHT_H

#ifdef __cplusplus
extern "C" {
#endif

/* What it costs to send a parcel, in cents. */
int price(int grams);

#ifdef __cplusplus
}
#endif

#endif
