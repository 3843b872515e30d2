// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/quantity.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "core/access.h"
#include "tests/runtime/core/sample.h"

namespace kgen {
namespace {

using sample::kLong;
using QuantityTest = sample::CoreTest;
using IntOrStringTest = sample::CoreTest;
using BytesTest = sample::CoreTest;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

// A quantity, and what Value() and MilliValue() make of it.
struct Amount {
  const char* text;
  std::int64_t value;
  std::int64_t milli;
};
constexpr Amount kAmounts[] = {
    {"0", 0, 0},
    {"0m", 0, 0},
    {"-0", 0, 0},
    {"1", 1, 1000},
    {"+1", 1, 1000},
    {"007", 7, 7000},
    {"500m", 1, 500},
    {"1001m", 2, 1001},
    {"100u", 1, 1},
    {"1n", 1, 1},
    {"1000000n", 1, 1},
    {"1000001n", 1, 2},
    {"1k", 1'000, 1'000'000},
    {"1Ki", 1'024, 1'024'000},
    {"1M", 1'000'000, 1'000'000'000},
    {"1Mi", 1'048'576, 1'048'576'000},
    {"1.5Gi", 1'610'612'736, 1'610'612'736'000},
    {"0.5Gi", 536'870'912, 536'870'912'000},
    {".5", 1, 500},
    {"5.", 5, 5000},
    {"1G", 1'000'000'000, 1'000'000'000'000},
    {"1T", 1'000'000'000'000, 1'000'000'000'000'000},
    {"1P", 1'000'000'000'000'000, 1'000'000'000'000'000'000},
    {"1E", 1'000'000'000'000'000'000, kMax},
    {"1Ti", std::int64_t{1} << 40, (std::int64_t{1} << 40) * 1000},
    {"1Pi", std::int64_t{1} << 50, (std::int64_t{1} << 50) * 1000},
    {"1Ei", std::int64_t{1} << 60, kMax},
    {"7Ei", 7 * (std::int64_t{1} << 60), kMax},
    {"8Ei", kMax, kMax},
    {"-8Ei", kMin, kMin},
    {"-9Ei", kMin, kMin},
    {"1e3", 1'000, 1'000'000},
    {"1E3", 1'000, 1'000'000},
    {"1e+3", 1'000, 1'000'000},
    {"1.5e-3", 1, 2},
    {"100e-2", 1, 1000},
    {"0e99999", 0, 0},
    {"9223372036854775807", kMax, kMax},
    {"9223372036854775808", kMax, kMax},
    {"9223372036854775806.5", kMax, kMax},
    {"-9223372036854775808", kMin, kMin},
    {"-1500m", -2, -1500},
    {"-1n", -1, -1},
    {"1e30", kMax, kMax},
    {"-1e30", kMin, kMin},
    {"1e-30", 1, 1},
    {"1e2147483647", kMax, kMax},
    {"1e-2147483648", 1, 1},
    {"0.000000000000000000000000000000000001", 1, 1},
    {"1000000000000000000000000000000e-30", 1, 1000},
    {"0.0009765625Ki", 1, 1000},
};

TEST_F(QuantityTest, ReadsAmountsAsKubernetesDoes) {
  for (const Amount& c : kAmounts) {
    const Quantity q = c.text;
    EXPECT_TRUE(q.valid()) << c.text;
    EXPECT_EQ(q.Value(), c.value) << c.text;
    EXPECT_EQ(q.MilliValue(), c.milli) << c.text;
    EXPECT_EQ(q.text(), c.text) << "the text stays as it came";
  }
}

TEST_F(QuantityTest, IsZeroAndInvalidForTextThatIsNotAQuantity) {
  for (const char* text :
       {"",     "m",    "Ki",  "+",    "-",   ".",   ".m",  "1.1.1", "1 ",    " 1",    "1K",
        "1mi",  "1kk",  "1ki", "0x10", "1,5", "1e",  "1e+", "1e+-3", "1e-+3", "1e1.5", "1e99999999999",
        "1e3m", "1Kim", "--1", "+-1",  "1-",  "inf", "nan", "1EE",   "1Eix"}) {
    const Quantity q = text;
    EXPECT_FALSE(q.valid()) << text;
    EXPECT_EQ(q.Value(), 0) << text;
    EXPECT_EQ(q.AsDouble(), 0) << text;
    EXPECT_EQ(q.text(), text);
  }
  EXPECT_FALSE(Quantity().valid());
  EXPECT_NE(Quantity("abc"), Quantity("0"));
  EXPECT_NE(Quantity("abc"), Quantity("xyz"));
  EXPECT_EQ(Quantity("abc"), Quantity("abc"));
  EXPECT_EQ(Quantity().Value(), 0);
}

TEST_F(QuantityTest, ComparesByAmountExactly) {
  EXPECT_EQ(Quantity("1"), Quantity("1000m"));
  EXPECT_EQ(Quantity("1"), Quantity(std::int64_t{1}));
  EXPECT_EQ(Quantity("1024"), Quantity("1Ki"));
  EXPECT_EQ(Quantity("1e3"), Quantity("1k"));
  EXPECT_EQ(Quantity("0"), Quantity("-0.000"));
  EXPECT_EQ(Quantity("1Ei"), Quantity("1152921504606846976"));
  EXPECT_EQ(Quantity("0.1Ei"), Quantity("115292150460684697.6"));
  EXPECT_NE(Quantity("1Ei"), Quantity("1152921504606846977"));
  EXPECT_LT(Quantity("999m"), Quantity("1"));
  EXPECT_LT(Quantity("-1"), Quantity("-999m"));
  EXPECT_LT(Quantity("-1"), Quantity("0"));
  EXPECT_LT(Quantity("9223372036854775807"), Quantity("9223372036854775808"));
  EXPECT_LT(Quantity("1e100"), Quantity("1e101"));
  EXPECT_LT(Quantity("10E"), Quantity("9Ei"));
  EXPECT_LT(Quantity("0.1"), Quantity("0.1000000000000000000000000000000000000000000000000000000000000001"));
}

TEST_F(QuantityTest, ComparesDigitsFarBehindTheOthers) {
  const std::string thousand = "1." + std::string(1000, '0');
  EXPECT_EQ(Quantity(thousand), Quantity("1"));
  EXPECT_LT(Quantity("1"), Quantity(thousand + "1"));
  EXPECT_EQ(Quantity(thousand + "1").Value(), 2);
  EXPECT_LT(Quantity(std::string(300, '9') + "Ei"), Quantity(std::string(301, '9') + "Ei"));
}

TEST_F(QuantityTest, KeepsUnsetApartFromZero) {
  EXPECT_NE(Quantity(), Quantity("0"));
  EXPECT_EQ((Quantity() <=> Quantity("0")), std::strong_ordering::equal);
  EXPECT_EQ(Quantity(), Quantity());
}

TEST_F(QuantityTest, CanBeBuiltFromAnInteger) {
  EXPECT_EQ(Quantity(kMin).text(), "-9223372036854775808");
  EXPECT_EQ(Quantity(kMin).Value(), kMin);
  EXPECT_EQ(Quantity(kMax).Value(), kMax);
}

TEST_F(QuantityTest, GivesTheNearestDouble) {
  EXPECT_EQ(Quantity("100m").AsDouble(), 0.1);
  EXPECT_EQ(Quantity("1.5Gi").AsDouble(), 1610612736.0);
  EXPECT_EQ(Quantity("-2.5").AsDouble(), -2.5);
  EXPECT_EQ(Quantity("9007199254740993").AsDouble(), 9007199254740992.0);
  EXPECT_EQ(Quantity("1e400").AsDouble(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(Quantity("-1e400").AsDouble(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(Quantity("1e-400").AsDouble(), 0.0);
}

TEST_F(QuantityTest, AgreesWithWideIntegerArithmetic) {
  std::mt19937_64 random(7);
  const char* const suffixes[] = {"n", "u", "m", "", "k", "Ki", "Mi"};
  const std::int64_t scale[] = {
      1, 1'000, 1'000'000, 1'000'000'000, 1'000'000'000'000, 1'024'000'000'000, 1'048'576'000'000'000};
  const auto draw = [&](std::string& text) {
    const std::size_t s = random() % 7;
    const auto number = static_cast<std::int64_t>(random() % 20'001) - 10'000;
    text = std::to_string(number) + suffixes[s];
    return static_cast<__int128>(number) * scale[s];
  };
  for (int i = 0; i < 20'000; ++i) {
    std::string a;
    std::string b;
    const __int128 x = draw(a);
    const __int128 y = draw(b);
    ASSERT_EQ(Quantity(a) < Quantity(b), x < y) << a << ' ' << b;
    ASSERT_EQ(Quantity(a) == Quantity(b), x == y) << a << ' ' << b;
    const __int128 nano = 1'000'000'000;
    const __int128 whole = x / nano + (x % nano > 0 ? 1 : x % nano < 0 ? -1 : 0);
    ASSERT_EQ(Quantity(a).Value(), static_cast<std::int64_t>(whole)) << a;
  }
}

// ---- IntOrString. ----

TEST_F(IntOrStringTest, IsANumberOrTextAndReportsWhich) {
  const IntOrString number = 8080;
  EXPECT_TRUE(number.is_int());
  EXPECT_FALSE(number.is_string());
  EXPECT_EQ(number.int_value(), 8080);
  EXPECT_EQ(number.string_value(), "");
  EXPECT_EQ(number.str(), "8080");
  const IntOrString text = "8080";
  EXPECT_TRUE(text.is_string());
  EXPECT_EQ(text.int_value(), 0);
  EXPECT_EQ(text.string_value(), "8080");
  EXPECT_NE(number, text);
  const IntOrString unset;
  EXPECT_FALSE(unset.is_int() || unset.is_string() || unset.has_value());
  EXPECT_EQ(unset.str(), "");
}

TEST_F(IntOrStringTest, HoldsTheWholeRangeAndCopies) {
  for (const std::int32_t value :
       {0, -1, 1, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()}) {
    IntOrString a = value;
    IntOrString b = a;
    EXPECT_EQ(b.int_value(), value);
    EXPECT_EQ(a, b);
    const IntOrString c = std::move(a);
    EXPECT_EQ(c, b);
    b = kLong;
    EXPECT_EQ(b.string_value(), kLong);
    b = value;
    EXPECT_EQ(b.int_value(), value);
    b.reset();
    EXPECT_FALSE(b.has_value());
  }
}

TEST_F(IntOrStringTest, KeepsTheSpellingOfTheServerAndWiderIntegers) {
  IntOrString wide;
  EXPECT_TRUE(detail::ScalarAccess::SetNumber(wide, "100000000000"));
  EXPECT_TRUE(wide.is_int());
  EXPECT_EQ(wide.int64_value(), 100'000'000'000);
  EXPECT_EQ(wide.int_value(), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(wide.str(), "100000000000");
  for (const char* spelling : {"1e3", "1000.0", "100E+1", "10000e-1", "0.1e4"}) {
    IntOrString number;
    EXPECT_TRUE(detail::ScalarAccess::SetNumber(number, spelling));
    EXPECT_EQ(number.int64_value(), 1000) << spelling;
    EXPECT_EQ(number.int_value(), 1000) << spelling;
    EXPECT_EQ(number.str(), spelling);
  }
  IntOrString longest;
  EXPECT_TRUE(detail::ScalarAccess::SetNumber(longest, "-12345678901234"));
  EXPECT_EQ(longest.int64_value(), -12'345'678'901'234);
  IntOrString too_long;
  EXPECT_FALSE(detail::ScalarAccess::SetNumber(too_long, "1234567890123456"));
  EXPECT_FALSE(too_long.has_value());
}

// ---- Bytes. ----

TEST_F(BytesTest, EncodesAndDecodesEveryLength) {
  std::mt19937 random(3);
  for (std::size_t n = 0; n < 70; ++n) {
    std::string raw(n, '\0');
    for (char& c : raw) c = static_cast<char>(random());
    const Bytes bytes = Bytes::Of(raw);
    EXPECT_TRUE(bytes.has_value());
    EXPECT_TRUE(bytes.valid());
    EXPECT_EQ(bytes.Decode(), raw);
    EXPECT_EQ(bytes.size(), n);
    EXPECT_EQ(bytes.base64().size(), (n + 2) / 3 * 4);
  }
}

TEST_F(BytesTest, WritesTheTestVectorsOfTheStandard) {
  EXPECT_EQ(Bytes::Of("").base64(), "");
  EXPECT_EQ(Bytes::Of("f").base64(), "Zg==");
  EXPECT_EQ(Bytes::Of("fo").base64(), "Zm8=");
  EXPECT_EQ(Bytes::Of("foo").base64(), "Zm9v");
  EXPECT_EQ(Bytes::Of("foobar").base64(), "Zm9vYmFy");
  EXPECT_EQ(Bytes::Of("\xFB\xFF").base64(), "+/8=");
}

TEST_F(BytesTest, ReadsLineBreaksAsGoDoesAndRefusesTheRest) {
  EXPECT_EQ(Bytes::FromBase64("Zm9v\r\nYmFy\n").Decode(), "foobar");
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "=", "Zm9v=", "Zg==Zg==", "Zm 9v", "Zm9-", "Z=g="}) {
    const Bytes bytes = Bytes::FromBase64(text);
    EXPECT_FALSE(bytes.valid()) << text;
    EXPECT_EQ(bytes.Decode(), "") << text;
    EXPECT_EQ(bytes.size(), 0u) << text;
    EXPECT_EQ(bytes.base64(), text) << "kept as it came";
  }
}

TEST_F(BytesTest, KeepsUnsetApartFromEmpty) {
  EXPECT_FALSE(Bytes().has_value());
  EXPECT_TRUE(Bytes::Of("").has_value());
  EXPECT_NE(Bytes(), Bytes::Of(""));
}

}  // namespace
}  // namespace kgen
