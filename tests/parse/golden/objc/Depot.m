//
//  Depot.m
//
#import "Depot.h"
#import <Foundation/Foundation.h>
@import UIKit;
@class Shelf;

NS_ASSUME_NONNULL_BEGIN

#define MOST_CRATES 3
static NSString * const kName = @"depot {";
FOUNDATION_EXPORT NSString * const kOther;
typedef void (^Done)(NSError *_Nullable error);

typedef NS_ENUM(NSInteger, Colour) { ColourRed, ColourBlue };
typedef NS_OPTIONS(NSUInteger, Flags) {
    FlagsOld = 1 << 0,
    FlagsNew API_DEPRECATED("No.", ios(8.0, 9.0)) = 1 << 1,
};

typedef enum : long {
    KindNear,
    KindFar,
} Kind;

_Pragma("clang diagnostic push") \
_Pragma("clang diagnostic ignored \"-Wstrict-prototypes\"") \
typedef id _Nonnull (^Reduce)(void);
_Pragma("clang diagnostic pop")

QuickSpecBegin(DepotSpec)

QuickSpecEnd

/**
 Hears of crates.
 */
@protocol DepotDelegate <NSObject>
@optional
- (void)depot:(Depot *)depot didMove:(Crate *)crate toShelf:(NSInteger)shelf;
@required
@property (nonatomic, copy) NSString *title;
- (void)plain;
@end

/// Where crates are.
API_AVAILABLE(ios(10.0), macos(10.12))
@interface Depot<Kind> : NSObject <DepotDelegate> {
    int _count;
}
@property (nonatomic, strong, nullable) NSArray<NSString *> *items;
@property (nonatomic, copy) void (^handler)(int);
@property (class, readonly) Depot *a, *b;
+ (instancetype)shared;
- (instancetype)initWithName:(NSString *)name age:(int)age NS_DESIGNATED_INITIALIZER;
- (instancetype)init NS_UNAVAILABLE;
- (void)log:(NSString *)format, ... NS_FORMAT_FUNCTION(1,2);
- (void):(int)a :(int)b;
@end

@interface Depot () {
    BOOL _open;
}
@property (nonatomic) int hidden;
@end

@interface Depot (Sorting)
- (void)sort;
@end

#pragma mark - Depot

@implementation Depot
@synthesize hidden = _hidden;

+ (instancetype)shared {
    static Depot *one; static dispatch_once_t once;
    dispatch_once(&once, ^{ one = [[self alloc] init]; });
    return one;
}

// Names it.
- (instancetype)initWithName:(NSString *)name
                         age:(int)age {
    if (self = [super init]) { _count = age; }
#if TARGET_OS_IOS
    else if (age > 2) {
#else
    else {
#endif
        _count = 0;
    }
    return self;
}

#if TARGET_OS_OSX
- (void)viewDidMove
#else
- (void)didMove
#endif
{
    NSLog(@"%@", self);
}

static int helper(__unused int a) { return 0; }

- (void)dealloc {}
@end

@implementation Depot (Sorting)
- (void)sort { [self.items sortUsingComparator:^(id a, id b) { return [a compare:b]; }]; }
@end

struct Point { int x; };

int main(int argc, char **argv) { @autoreleasepool { return 0; } }

NS_ASSUME_NONNULL_END
